//! The file of `freehold snapshot --format metrics`, as Prometheus's programs read it.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::process::{Command, Stdio};

use freehold_needs::{has_program, is_root};

use crate::serve_common::metrics_file::{Running, labelled_series, metrics_file};
use crate::serve_common::{Machine, get_text, value, wait_for};

/// `node_exporter` as Debian names it.
const NODE_EXPORTER: &str = "prometheus-node-exporter";

#[test]
fn promtool_accepts_the_file() {
    if !has_program("promtool", "promtool_accepts_the_file") {
        return;
    }
    let machine = Machine::new();
    for more in [&[][..], &["--all"]] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("freehold.prom");
        assert!(metrics_file(&machine, &file, more).status().unwrap().success());
        let mut promtool = Command::new("promtool");
        promtool
            .args(["check", "metrics"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut promtool = promtool.spawn().expect("promtool starts");
        promtool.stdin.take().unwrap().write_all(&fs::read(&file).unwrap()).unwrap();
        let ran = promtool.wait_with_output().expect("an end");
        assert!(ran.status.success() && ran.stdout.is_empty() && ran.stderr.is_empty(), "{ran:?}");
    }
}

#[test]
fn a_real_node_exporter_passes_it_on() {
    if !has_program(NODE_EXPORTER, "a_real_node_exporter_passes_it_on") {
        return;
    }
    let machine = Machine::new();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("freehold.prom");
    let _writer = Running(metrics_file(&machine, &file, &["--interval", "0.05"]).spawn().unwrap());
    wait_for("the file", || file.exists().then_some(()));
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut exporter = Command::new(NODE_EXPORTER);
    exporter.args(["--collector.disable-defaults", "--collector.textfile"]);
    exporter.arg(format!("--collector.textfile.directory={}", folder.path().display()));
    exporter.arg(format!("--web.listen-address={free}"));
    let _exporter = Running(exporter.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let text = wait_for("a scrape", || get_text(&free.to_string(), "/metrics"));
    assert_eq!(value(&text, "node_textfile_scrape_error "), Some(0.0), "{text}");
    assert_eq!(value(&text, "freehold_up "), Some(1.0), "{text}");
    assert!(text.contains("node_textfile_mtime_seconds{file="), "{text}");
    assert_eq!(
        labelled_series(&text),
        labelled_series(&fs::read_to_string(&file).unwrap()),
        "the same series"
    );
    machine.set_largest_blocks(4321);
    let before = value(&text, "freehold_machine_free_pages ");
    wait_for("the changed number", || {
        let text = get_text(&free.to_string(), "/metrics")?;
        (value(&text, "freehold_machine_free_pages ") != before).then_some(())
    });
}

#[test]
fn this_machine_is_judged_at_once() {
    if !is_root("this_machine_is_judged_at_once") {
        return;
    }
    let output = Command::new(env!("CARGO_BIN_EXE_freehold"))
        .args(["snapshot", "--format", "metrics"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let forecast = "freehold_verdict_blocks{size=\"2M\",when=\"after-reclaim-and-compaction\"}";
    assert!(value(&text, forecast).is_some(), "{text}");
    let series = text.lines().filter(|line| !line.starts_with('#')).count();
    assert!(series <= 60, "{series} series: {text}");
}
