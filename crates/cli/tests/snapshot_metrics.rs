//! `freehold snapshot --format metrics`: the file that `node_exporter`'s textfile collector reads.

mod serve_common;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use freehold_needs::{has_program, is_root};
use rustix::process::{Pid, Signal, kill_process};
use serve_common::{Machine, get_text, value, wait_for};

/// `node_exporter` as Debian names it.
const NODE_EXPORTER: &str = "prometheus-node-exporter";

fn command(machine: &Machine, file: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_freehold"));
    command.args(["snapshot", "--format", "metrics", "--sensor", "procfs", "--root"]).arg(machine.0.path());
    command.arg("-o").arg(file).args(more);
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A process that is killed when dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// The series of a text, each with its labels in the order of their names, as `node_exporter` writes them.
fn series(text: &str) -> BTreeSet<(String, BTreeSet<String>)> {
    let lines = text.lines().filter(|line| line.starts_with("freehold_"));
    let parts = |line: &str| {
        let labelled = line.rsplit_once(' ').expect("a value").0;
        let (name, labels) = labelled.split_once('{').unwrap_or((labelled, ""));
        (name.to_owned(), labels.trim_end_matches('}').split(',').map(str::to_owned).collect())
    };
    lines.map(parts).collect()
}

#[test]
fn a_file_is_written_once_and_replaced_only_by_force() {
    let machine = Machine::new();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("freehold.prom");
    let output = command(&machine, &file, &[]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(value(&text, "freehold_up "), Some(1.0));
    assert!(value(&text, "freehold_machine_free_pages ") > Some(0.0));
    assert!(!text.contains("# EOF") && !text.contains("node="), "{text}");
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let after = line.rsplit_once('}').map_or(line, |(_, after)| after).trim();
        assert!(after.split(' ').count() <= 2, "a value and no time: {line}");
    }
    let refused = command(&machine, &file, &[]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(said(&refused).contains("--force"), "{refused:?}");
    let all = command(&machine, &file, &["--force", "--all"]).output().unwrap();
    assert!(all.status.success(), "{all:?}");
    let all = fs::read_to_string(&file).unwrap();
    assert!(all.contains("freehold_free_blocks_by_type{") && all.len() > 2 * text.len());
    assert_eq!(names(folder.path()), ["freehold.prom"]);
}

#[test]
fn names_that_node_exporter_does_not_read_are_refused() {
    let machine = Machine::new();
    let folder = tempfile::tempdir().unwrap();
    for name in ["freehold.txt", "freehold", "freehold.prom.tmp"] {
        let refused = command(&machine, &folder.path().join(name), &[]).output().unwrap();
        assert_eq!(refused.status.code(), Some(2), "{refused:?}");
        assert!(said(&refused).contains(".prom"), "{refused:?}");
    }
    assert!(names(folder.path()).is_empty());
}

#[test]
fn an_option_of_this_format_is_refused_with_others() {
    let machine = Machine::new();
    let folder = tempfile::tempdir().unwrap();
    let mut snapshot = Command::new(env!("CARGO_BIN_EXE_freehold"));
    snapshot.args(["snapshot", "--format", "json", "--all", "--root"]).arg(machine.0.path());
    let output = snapshot.arg("-o").arg(folder.path().join("x.json")).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(said(&output).contains("--format metrics"), "{output:?}");
}

#[test]
fn whoever_reads_while_it_is_written_reads_a_whole_file() {
    let machine = Machine::new();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("freehold.prom");
    let mut writer = Running(command(&machine, &file, &["--interval", "0.01"]).spawn().unwrap());
    wait_for("the file", || file.exists().then_some(()));
    let lines = fs::read_to_string(&file).unwrap().lines().count();
    let start = Instant::now();
    let (mut reads, mut samples) = (0_u32, BTreeSet::new());
    while start.elapsed() < Duration::from_secs(2) {
        let text = fs::read_to_string(&file).expect("it is there all the time");
        assert_eq!(text.lines().count(), lines, "{text}");
        assert!(text.ends_with('\n'), "{text}");
        samples.insert(value(&text, "freehold_samples_total ").expect("a count") as u64);
        reads += 1;
    }
    assert!(samples.len() > 10, "{reads} readings of {} samples", samples.len());
    kill_process(Pid::from_child(&writer.0), Signal::TERM).unwrap();
    writer.0.wait().unwrap();
    assert_eq!(names(folder.path()), ["freehold.prom"], "nothing unfinished stays");
    assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), lines);
}

#[test]
fn a_folder_that_goes_and_comes_back_is_written_again() {
    let machine = Machine::new();
    let folder = tempfile::tempdir().unwrap();
    let below = folder.path().join("textfiles");
    fs::create_dir(&below).unwrap();
    let file = below.join("freehold.prom");
    let mut writer = command(&machine, &file, &["--interval", "0.05"]);
    let mut writer = Running(writer.stderr(Stdio::piped()).spawn().unwrap());
    wait_for("the file", || file.exists().then_some(()));
    let away = folder.path().join("away");
    fs::rename(&below, &away).unwrap();
    std::thread::sleep(Duration::from_millis(500));
    fs::create_dir(&below).unwrap();
    wait_for("the file again", || file.exists().then_some(()));
    assert_eq!(writer.0.try_wait().unwrap(), None, "it goes on");
    kill_process(Pid::from_child(&writer.0), Signal::TERM).unwrap();
    writer.0.wait().unwrap();
    let mut told = String::new();
    std::io::Read::read_to_string(&mut writer.0.stderr.take().unwrap(), &mut told).unwrap();
    assert_eq!(told.matches("it is tried again").count(), 1, "{told}");
    assert!(told.contains("written again"), "{told}");
}

#[test]
fn promtool_finds_nothing_to_say_about_the_file() {
    if !has_program("promtool", "promtool_finds_nothing_to_say_about_the_file") {
        return;
    }
    let machine = Machine::new();
    for more in [&[][..], &["--all"]] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("freehold.prom");
        assert!(command(&machine, &file, more).status().unwrap().success());
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
    let _writer = Running(command(&machine, &file, &["--interval", "0.05"]).spawn().unwrap());
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
    assert_eq!(series(&text), series(&fs::read_to_string(&file).unwrap()), "the same series");
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
