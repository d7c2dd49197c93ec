//! `freehold serve --socket`: pagetypeinfo's text for each client.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::common::{self, run};
use crate::serve_common::socket::{PATIENCE, SocketServer, ask, fixture};

#[test]
fn clients_get_the_text_and_the_socket_is_removed_at_the_end() {
    let folder = common::folder();
    let socket = folder.path().join("socket");
    let server = SocketServer::of_fixture(&socket);
    let text = fs::read_to_string(fixture().join("proc/pagetypeinfo")).unwrap();
    for _ in 0..100 {
        assert_eq!(ask(&socket), text);
    }
    assert_eq!(fs::metadata(&socket).unwrap().permissions().mode() & 0o777, 0o600, "nobody else's");
    assert_eq!(server.end(), 0);
    assert!(!socket.exists());
}

#[test]
fn stalled_clients_do_not_block_others() {
    let folder = common::folder();
    let socket = folder.path().join("socket");
    let _server = SocketServer::of_fixture(&socket);
    let idle: Vec<_> = (0..200).map(|_| UnixStream::connect(&socket).expect("a connection")).collect();
    let began = Instant::now();
    while ask(&socket).is_empty() {
        assert!(began.elapsed() < PATIENCE, "all seats stay taken");
        std::thread::sleep(Duration::from_millis(50));
    }
    drop(idle);
    assert!(!ask(&socket).is_empty());
}

#[test]
fn only_a_dead_socket_is_replaced() {
    let folder = common::folder();
    let path = |name: &str| folder.path().join(name);
    let root = fixture();
    let refused = |socket: &Path, why: &str| {
        let ran = run([
            "serve",
            "--sensor",
            "procfs",
            "--root",
            root.to_str().unwrap(),
            "--socket",
            socket.to_str().unwrap(),
        ]);
        ran.fails(64, &["cannot listen", why, "--socket"]);
    };
    fs::write(path("file"), "dear").unwrap();
    refused(&path("file"), "something else");
    assert_eq!(fs::read_to_string(path("file")).unwrap(), "dear");
    std::os::unix::fs::symlink(path("file"), path("link")).unwrap();
    refused(&path("link"), "something else");
    assert!(fs::symlink_metadata(path("link")).unwrap().is_symlink());
    refused(&path("missing/socket"), "No such file");
    drop(UnixListener::bind(path("dead")).unwrap());
    let server = SocketServer::of_fixture(&path("dead"));
    refused(&path("dead"), "another server");
    assert!(!ask(&path("dead")).is_empty(), "the first one lives on");
    drop(server);
    assert!(path("dead").exists(), "killed, it could not clean up");
    let _next = SocketServer::of_fixture(&path("dead"));
    assert!(!ask(&path("dead")).is_empty());
}
