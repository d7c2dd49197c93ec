//! What the monitor's commands say of the machine that the tests run on.

use std::fs;

use freehold_needs::{is_root, skip};

use crate::common::{self, run};
use crate::serve_common::series::{check_series, server_of};
use crate::serve_common::socket::{SocketServer, ask};
use crate::serve_common::{Server, wait_for};

#[test]
fn this_machine_is_read() {
    let ran = run(["snapshot", "--format", "buddyinfo"]).ok();
    assert!(ran.stdout.starts_with("Node 0, zone"), "{}", ran.stdout);
    if is_root("this_machine_is_read") {
        assert!(run(["snapshot"]).ok().stdout.contains("Number of blocks type"));
    }
}

#[test]
fn this_machine_is_read_without_its_zone_lock() {
    if !is_root("this_machine_is_read_without_its_zone_lock") {
        return;
    }
    if !cfg!(feature = "bpf") {
        skip("this_machine_is_read_without_its_zone_lock", "built without --features bpf");
        run(["snapshot", "--sensor", "bpf"]).fails(69, &["without the bpf feature", "--features bpf"]);
        return;
    }
    let json = run(["snapshot", "--sensor", "bpf", "--format", "json"]).ok().json();
    assert_eq!(json["sensor"]["source"], "bpf");
    assert_eq!(json["sensor"]["types_age_ms"], 0);
    assert_eq!(json["notes"], serde_json::json!([]), "nothing is missing");
    let text = run(["snapshot", "--sensor", "bpf", "--exact"]).ok();
    let is_left_out = text.stderr.contains("pageblocks by type is left out");
    assert_ne!(is_left_out, text.stdout.contains("Number of blocks type"), "{}", text.stderr);
}

#[test]
fn this_machine_is_served_without_pagetypeinfo() {
    let test = "this_machine_is_served_without_pagetypeinfo";
    if !is_root(test) {
        return;
    }
    let folder = common::folder();
    let socket = folder.path().join("socket");
    if !cfg!(feature = "bpf") {
        skip(test, "built without --features bpf");
        let ran = run(["serve", "--socket", socket.to_str().unwrap()]);
        ran.fails(69, &["without the bpf feature"]);
        return;
    }
    let server = SocketServer::start(&socket, &[]);
    let same = (0..200).any(|_| {
        let before = fs::read_to_string("/proc/pagetypeinfo").unwrap();
        let reply = ask(&socket);
        reply == before && fs::read_to_string("/proc/pagetypeinfo").unwrap() == before
    });
    if !same {
        skip(test, "the machine is too busy to compare two readings");
    }
    let open = fs::read_dir(format!("/proc/{}/fd", server.0.id())).unwrap();
    let files: Vec<_> = open.filter_map(|entry| fs::read_link(entry.unwrap().path()).ok()).collect();
    assert!(!files.iter().any(|file| file.ends_with("pagetypeinfo")), "{files:?}");
    assert_eq!(server.end(), 0);
}

fn judged(server: &Server) {
    wait_for("a verdict with a forecast", || {
        let text = server.get("/metrics").body;
        text.lines().any(|line| line.contains("size=\"1G\"")).then_some(())
    });
}

#[test]
fn this_machine_has_at_most_sixty_series() {
    if !is_root("this_machine_has_at_most_sixty_series") {
        return;
    }
    let server = server_of(None);
    // The first round over the pageblocks takes minutes; the series of its outcome are those that a fixture has.
    let (few, _) = check_series("this machine, first round", &server);
    if std::env::var_os("FREEHOLD_PATIENT").is_some() {
        judged(&server);
        assert!(check_series("this machine, judged", &server).0 > few);
    }
}
