//! `freehold serve`: its answers, its behaviour after errors, and its end.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixDatagram;
use std::process::Command;

use rustix::process::Signal;
use serde_json::Value;

use crate::serve_common::{Machine, PATIENCE, Server, value, wait_for};

/// The data of the next event with this name.
fn next_event(lines: &mut impl Iterator<Item = std::io::Result<String>>, name: &str) -> Value {
    let mut current = String::new();
    for line in lines.map(|line| line.expect("a line")) {
        if let Some(event) = line.strip_prefix("event: ") {
            event.clone_into(&mut current);
        } else if let Some(data) = line.strip_prefix("data: ").filter(|_| current == name) {
            return serde_json::from_str(data).expect("JSON");
        }
    }
    panic!("the stream ended");
}

#[test]
fn the_page_and_its_parts_are_there() {
    let machine = Machine::new();
    let server = Server::start(&machine);
    let page = server.get("/");
    assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"));
    assert!(page.header("content-security-policy").starts_with("default-src 'none'"), "{}", page.head);
    assert_eq!(page.header("x-content-type-options"), "nosniff");
    for part in page.body.split(['"']).filter(|text| text.starts_with("/page/")) {
        assert_eq!(server.get(part).status, 200, "{part}");
    }
    assert!(
        !page.body.contains("http://") && !page.body.contains("https://"),
        "nothing comes from elsewhere"
    );
    assert_eq!(server.get("/page/../../etc/passwd").status, 404);
    assert_eq!(server.get("/nothing").status, 404);
    assert_eq!(server.get("/healthz").body, "ok\n");
}

#[test]
fn events_contain_the_model_and_every_change() {
    let machine = Machine::new();
    let server = Server::start(&machine);
    let mut stream = server.connect();
    stream.write_all(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut lines = BufReader::new(stream).lines();
    let first = next_event(&mut lines, "model");
    assert_eq!(first["model"]["machine"]["kernel_release"], "6.18.0-test");
    assert_eq!(first["interval_ms"], 50);
    machine.set_largest_blocks(4321);
    let mut seen = 0;
    while seen != 4321 {
        let event = next_event(&mut lines, "model");
        let zones = event["model"]["zones"].as_array().unwrap();
        seen = zones.last().unwrap()["blocks"][10].as_u64().unwrap();
    }
}

#[test]
fn history_begins_with_the_server() {
    let machine = Machine::new();
    let server = Server::start(&machine);
    let history = wait_for("a history of five samples", || {
        let answer = server.get("/history");
        assert_eq!(answer.header("content-type"), "application/json");
        let history: Value = serde_json::from_str(&answer.body).expect("JSON");
        (history["points"].as_array()?.len() >= 5).then_some(history)
    });
    let zones = history["zones"].as_array().unwrap().len();
    let point = &history["points"][0];
    assert!(point[0].as_u64().unwrap() > 1_600_000_000_000, "milliseconds since 1970: {point}");
    assert_eq!(point[1].as_array().unwrap().len(), zones);
    assert_eq!(point[1][0][1].as_array().unwrap().len(), 11, "blocks of each order: {point}");
}

#[test]
fn only_get_and_head_are_answered() {
    let machine = Machine::new();
    let server = Server::start(&machine);
    for path in ["/", "/metrics", "/events", "/history", "/healthz", "/page/style.css"] {
        for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"] {
            assert_eq!(server.ask(method, path, "localhost").status, 405, "{method} {path}");
        }
    }
    let head = server.ask("HEAD", "/metrics", "localhost");
    assert_eq!((head.status, head.body.as_str()), (200, ""));
}

#[test]
fn names_of_other_machines_are_refused_on_loopback() {
    let machine = Machine::new();
    let server = Server::start(&machine);
    for (host, status) in [
        ("localhost", 200),
        ("127.0.0.1:1", 200),
        ("rebound.example:9321", 421),
        ("10.0.0.1", 421),
        ("", 421),
    ] {
        assert_eq!(server.ask("GET", "/metrics", host).status, status, "{host:?}");
    }
    let absolute = b"GET http://rebound.example/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    assert!(server.exchange(absolute).starts_with("HTTP/1.1 421"));
}

#[test]
fn a_machine_that_cannot_be_read_is_shown_as_it_last_was() {
    let machine = Machine::new();
    let server = Server::start(&machine);
    let buddyinfo = machine.read("buddyinfo");
    machine.write("buddyinfo", "nonsense\n");
    wait_for("the failure", || (server.get("/healthz").status == 503).then_some(()));
    assert!(server.get("/healthz").body.contains("buddyinfo"));
    let metrics = server.get("/metrics").body;
    assert_eq!(value(&metrics, "freehold_up "), Some(0.0));
    assert!(value(&metrics, "freehold_sample_errors_total ") > Some(0.0));
    assert!(value(&metrics, "freehold_machine_free_pages ") > Some(0.0), "the last good numbers stay");
    machine.write("buddyinfo", &buddyinfo);
    wait_for("the recovery", || (server.get("/healthz").status == 200).then_some(()));
    assert_eq!(value(&server.get("/metrics").body, "freehold_up "), Some(1.0));
}

#[test]
fn signals_end_the_server_with_pages_open() {
    for signal in [Signal::INT, Signal::TERM] {
        let machine = Machine::new();
        let mut server = Server::start(&machine);
        let mut stream = server.connect();
        stream.write_all(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut lines = BufReader::new(stream).lines();
        next_event(&mut lines, "model");
        assert_eq!(server.stop(signal), Some(0));
        assert!(lines.all(|line| line.is_ok()), "the stream ends in good order");
    }
}

#[test]
fn unavailable_addresses_are_explained() {
    let machine = Machine::new();
    let server = Server::start(&machine);
    let fails = |listen: &str, code: i32, words: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_freehold"));
        command.args(["serve", "--sensor", "procfs", "--listen", listen, "--root"]).arg(machine.0.path());
        let output = command.output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{stderr}");
        assert!(stderr.contains(words), "{stderr}");
    };
    fails(&server.address, 64, "Another program has it");
    fails("192.0.2.1:9321", 64, "Name an address of this machine");
    fails("nonsense", 64, "such as 127.0.0.1:9321");
    let empty = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_freehold"));
    command.args(["serve", "--sensor", "procfs", "--listen", "127.0.0.1:0", "--root"]).arg(empty.path());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(66), "a machine without /proc: {output:?}");
}

#[test]
fn other_addresses_need_an_option_and_print_a_warning() {
    let machine = Machine::new();
    let quiet = Server::start(&machine);
    assert!(!quiet.stderr().contains("other machines"), "{}", quiet.stderr());
    let open = Server::start_with(&machine, &["--listen", "0.0.0.0:0"]);
    wait_for("the warning", || open.stderr().contains("other machines").then_some(()));
    let mut open = open;
    open.address = open.address.replace("0.0.0.0", "127.0.0.1");
    assert_eq!(open.ask("GET", "/metrics", "monitored.example").status, 200, "any name may be its own");
}

#[test]
fn systemd_gets_ready_and_watchdog_messages() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let machine = Machine::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_freehold"));
    command.args(["serve", "--sensor", "procfs", "--interval", "0.05", "--listen", "127.0.0.1:0", "--root"]);
    command.arg(machine.0.path()).env("NOTIFY_SOCKET", &path).env("WATCHDOG_USEC", "300000");
    let _server = Server::run(&mut command);
    let mut said = Vec::new();
    while said.len() < 4 {
        let mut bytes = [0; 256];
        let length = socket.recv(&mut bytes).expect("a message");
        said.push(String::from_utf8_lossy(&bytes[..length]).into_owned());
    }
    assert!(said[0].starts_with("READY=1"), "{said:?}");
    assert!(said[1..].iter().all(|text| text == "WATCHDOG=1"), "{said:?}");
}

#[test]
fn metrics_are_openmetrics_to_the_letter() {
    let machine = Machine::new();
    let server = Server::start(&machine);
    wait_for("a second sample", || {
        (value(&server.get("/metrics").body, "freehold_samples_total ") > Some(3.0)).then_some(())
    });
    let answer =
        server.ask_for("/metrics?all", "application/openmetrics-text;version=1.0.0,text/plain;q=0.3");
    assert_eq!(answer.header("content-type"), "application/openmetrics-text; version=1.0.0; charset=utf-8");
    check_openmetrics(&answer.body);
    let classic = server.get("/metrics?all");
    assert_eq!(classic.header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    let series = |text: &str| {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        lines.filter_map(|line| Some(line.rsplit_once(' ')?.0.to_owned())).collect::<BTreeSet<_>>()
    };
    assert_eq!(series(&classic.body), series(&answer.body), "the same series in both formats");
    let known: BTreeSet<_> =
        freehold_monitor::serve::metrics::table().into_iter().map(|metric| metric.name).collect();
    for line in answer.body.lines().filter(|line| !line.starts_with('#')) {
        let name = line.split(['{', ' ']).next().unwrap();
        assert!(known.contains(name), "{name} is not in the table");
    }
    let normal = "node=\"0\",zone=\"Normal\"";
    assert_eq!(value(&answer.body, &format!("freehold_unusable_index{{{normal},order=\"0\"}}")), Some(0.0));
    assert_eq!(value(&answer.body, "freehold_memory_pressure_seconds_total{tasks=\"some\"}"), Some(2.5));
    assert!(value(&answer.body, &format!("freehold_watermark_pages{{{normal},mark=\"low\"}}")) > Some(0.0));
}

/// Holds a text against the rules of the format.
fn check_openmetrics(text: &str) {
    let body = text.strip_suffix("# EOF\n").expect("the end of the text");
    let mut kinds = BTreeMap::new();
    let mut families = BTreeSet::new();
    let mut series = BTreeSet::new();
    let mut family = String::new();
    for line in body.lines() {
        assert!(!line.is_empty() && line.trim_end() == line, "{line:?}");
        if let Some(rest) = line.strip_prefix("# ") {
            let [what, name, words] = rest.splitn(3, ' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
            if name != family {
                name.clone_into(&mut family);
                assert!(families.insert(name.to_owned()), "{name} comes twice");
            }
            match what {
                "TYPE" => assert_eq!(kinds.insert(name.to_owned(), words.to_owned()), None, "{line}"),
                "UNIT" => assert!(name.ends_with(&format!("_{words}")), "{line}"),
                "HELP" => assert!(!words.is_empty(), "{line}"),
                _ => panic!("{line}"),
            }
            continue;
        }
        let (labelled, number) = line.rsplit_once(' ').expect("a value");
        let name = labelled.split('{').next().unwrap();
        let ending = match kinds[&family].as_str() {
            "counter" => "_total",
            "info" => "_info",
            "gauge" => "",
            kind => panic!("{kind}"),
        };
        assert_eq!(name, format!("{family}{ending}"), "a sample belongs to the family before it");
        let number: f64 = number.parse().unwrap_or_else(|_| panic!("{line}"));
        assert!(!number.is_nan() && (ending.is_empty() || number >= 0.0), "{line}");
        assert!(series.insert(labelled.to_owned()), "{labelled} comes twice");
        let labels = labelled.strip_prefix(name).unwrap();
        if let Some(labels) = labels.strip_prefix('{') {
            let labels = labels.strip_suffix('}').expect("a closed set");
            for label in labels.split("\",") {
                let (key, value) = label.split_once("=\"").expect("a label");
                assert!(key.bytes().all(|c| c.is_ascii_lowercase() || c == b'_'), "{line}");
                assert!(!value.trim_end_matches('"').contains(['"', '\n']), "{line}");
            }
        }
    }
    assert!(series.len() > 100);
}

#[test]
fn metrics_page_watch_and_check_have_one_verdict() {
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../linux/tests/fixtures");
    let machines = [
        ("linux-6.1", "2M"),
        ("linux-6.12-arm64-16k", "32M"),
        ("linux-6.12-arm64-64k", "512M"),
        ("linux-6.12-arm64-order13", "2M"),
        ("linux-7.3", "2M"),
    ];
    for (kernel, size) in machines {
        let root = fixtures.join(kernel);
        let freehold = |args: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_freehold"));
            command.args(args).arg("--root").arg(&root);
            command
        };
        let checked = freehold(&["check", "--json", "--need", size]).output().expect("the binary starts");
        let checked: Value = serde_json::from_slice(&checked.stdout).expect("JSON");
        let need = format!("{size}=1");
        let mut serve = freehold(&["serve", "--interval", "0.1", "--listen", "127.0.0.1:0", "--need", &need]);
        let server = Server::run(&mut serve);
        let blocks = |when: &str| {
            let series = format!("freehold_verdict_blocks{{size=\"{size}\",when=\"{when}\"}}");
            value(&server.get("/metrics").body, &series)
        };
        wait_for("a verdict with a forecast", || blocks("after-reclaim-and-compaction"));
        for (when, name) in [
            ("now", "now"),
            ("after-compaction", "after_compaction"),
            ("after-reclaim", "after_reclaim"),
            ("after-reclaim-and-compaction", "after_reclaim_and_compaction"),
        ] {
            assert_eq!(blocks(when), checked["supply"][name].as_f64(), "{kernel}, {when}: {checked}");
        }
        let state = checked["state"].as_str().expect("a state");
        let series = format!("freehold_verdict_state{{size=\"{size}\",state=\"{state}\"}}");
        assert_eq!(value(&server.get("/metrics").body, &series), Some(1.0), "{kernel}");
        let code = checked["exit_code"].as_f64();
        let series = format!("freehold_need_exit_code{{size=\"{size}\"}}");
        assert_eq!(value(&server.get("/metrics").body, &series), code, "{kernel}");
        let age = format!("freehold_verdict_age_seconds{{size=\"{size}\"}}");
        assert!(value(&server.get("/metrics").body, &age).is_some_and(|age| age < 120.0), "{kernel}");

        let stream = server.connect();
        (&stream).write_all(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("a request");
        let event = next_event(&mut BufReader::new(stream).lines(), "model");
        let shown = &event["model"]["verdicts"][0];
        assert_eq!((&shown["state"], &shown["supply"]), (&checked["state"], &checked["supply"]), "{kernel}");

        let code = checked["exit_code"].as_f64().expect("a number");
        let watched = |above: f64| {
            let threshold = format!("verdict={above}");
            let args = ["watch", "--interval", "0.1", "--timeout", "2", "--above", &threshold];
            freehold(&args).output().expect("the binary starts").status.code()
        };
        assert_eq!((watched(code - 0.5), watched(code + 0.5)), (Some(0), Some(124)), "{kernel}");
    }
}
