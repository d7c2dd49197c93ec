//! `freehold serve --web-config`: passwords, as Prometheus's exporter toolkit has them.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::serve_common::web::{ANN, serve, users};
use crate::serve_common::{Answer, Machine, Server, wait_for};

/// `ann:wrong`.
const WRONG: &str = "Basic YW5uOndyb25n";

/// A request without TLS.
fn plain(server: &Server, path: &str, authorization: Option<&str>) -> Answer {
    let authorization = authorization.map_or(String::new(), |said| format!("Authorization: {said}\r\n"));
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{authorization}Connection: close\r\n\r\n");
    Answer::parse(&server.exchange(request.as_bytes()))
}

#[test]
fn clients_without_a_password_get_nothing() {
    let machine = Machine::new();
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("web.yml");
    fs::write(&config, users(4)).unwrap();
    let server = serve(&machine, &config);
    for path in
        ["/", "/metrics", "/metrics?all", "/events", "/history", "/healthz", "/page/page.js", "/nothing"]
    {
        for wrong in [None, Some(WRONG), Some("Basic !"), Some("Bearer x"), Some("Basic Ym9iOnNlY3JldA==")] {
            let refused = plain(&server, path, wrong);
            assert_eq!(refused.status, 401, "{path} {wrong:?}");
            assert_eq!(refused.header("www-authenticate"), "basic");
            assert!(!refused.body.contains("freehold"), "{}", refused.body);
        }
    }
    for path in ["/", "/metrics", "/healthz"] {
        assert_eq!(plain(&server, path, Some(ANN)).status, 200, "{path}");
    }
    // Another user, by the same file.
    let bob = users(4).replace("ann:", "bob:");
    fs::write(&config, bob).unwrap();
    assert_eq!(plain(&server, "/metrics", Some(ANN)).status, 401, "at once");
    assert_eq!(plain(&server, "/metrics", Some("Basic Ym9iOnNlY3JldA==")).status, 200);
}

#[test]
fn password_guesses_do_not_delay_other_clients() {
    let machine = Machine::new();
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("web.yml");
    fs::write(&config, users(10)).unwrap();
    let server = serve(&machine, &config);
    assert_eq!(plain(&server, "/metrics", Some(ANN)).status, 200);
    let refused = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| {
                assert_eq!(plain(&server, "/metrics", Some(WRONG)).status, 401);
                refused.fetch_add(1, Ordering::SeqCst);
            });
        }
        wait_for("the first refusal", || (refused.load(Ordering::SeqCst) > 0).then_some(()));
        assert_eq!(plain(&server, "/metrics", Some(ANN)).status, 200);
        let so_far = refused.load(Ordering::SeqCst);
        assert!(so_far < 20, "all were refused before the one who has the password was answered");
    });
}
