//! Recordings of the machine that the tests run on, ended in every way.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::alone::alone;
use crate::common::{Ran, events, finish, folder, freehold, names, run};
use crate::recordable::can_record;

const INSTANCES: &str = "/sys/kernel/tracing/instances";

/// Starts a recording into `output`; `more` follows the usual arguments.
fn start(output: &Path, more: &[&str]) -> Child {
    let mut command = freehold(["record", "--no-occupancy", "--buffer", "8192", "-o"]);
    command.arg(output).args(more);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary can be started")
}

fn record(output: &Path, more: &[&str]) -> Ran {
    finish_child(start(output, more))
}

fn finish_child(child: Child) -> Ran {
    Ran::new(&child.wait_with_output().expect("the recorder ends"))
}

fn send(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, signal).expect("the recorder runs");
}

/// Waits until the recorder has written something besides the header.
fn wait_for_events(output: &Path) {
    let began = Instant::now();
    let path = output.to_str().expect("a path in UTF-8");
    while began.elapsed() < Duration::from_secs(20) {
        // Events to record.
        let _ = finish(freehold(["--version"]));
        thread::sleep(Duration::from_millis(50));
        // A header comes in several pieces, so that the file's length tells nothing.
        let ran = run(["trace", "info", path, "--partial", "--json"]);
        if ran.code == Some(0) && ran.json()["summary"]["events"].as_u64() > Some(0) {
            return;
        }
    }
    panic!("nothing was recorded in 20 s");
}

/// Our instances of the recorder with this pid.
fn instances_of(pid: u32) -> Vec<String> {
    let entries = fs::read_dir(INSTANCES).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| *name == format!("freehold-{pid}")).collect()
}

fn info(trace: &Path) -> Value {
    run(["trace", "info", trace.to_str().unwrap(), "--json"]).ok().json()
}

#[test]
fn a_command_and_its_comparison() {
    let _machine = alone();
    if !can_record("a_command_and_its_comparison") {
        return;
    }
    let folder = folder();
    let output = folder.path().join("ls.arrows");
    let script = "for i in 1 2 3 4 5 6 7 8; do ls / >/dev/null; done; exit 7";
    let mut command = freehold(["record", "--detail", "-o", output.to_str().unwrap(), "--", "sh", "-c"]);
    command.arg(script);
    let ran = finish(command);
    assert_eq!(ran.code, Some(7), "the command's exit code: {}", ran.stderr);
    for word in ["ls.arrows: ", " events in ", "0 lost", "CPU time", "the command ended with exit code 7"] {
        assert!(ran.stderr.contains(word), "no {word:?} in {}", ran.stderr);
    }
    let info = info(&output);
    assert!(info["summary"]["kinds"]["alloc"].as_u64() > Some(100), "{}", info["summary"]);
    assert_eq!(info["ending"]["command_exit"], 7);
    assert_eq!(info["origin"]["command"], serde_json::json!(["sh", "-c", script]));
    let comparison = run(["compare", output.to_str().unwrap(), "--timing-rounds", "1", "--json"]).ok().json();
    let rows = comparison["overview"]["rows"].as_array().unwrap();
    for row in rows.iter().filter(|row| row["group"] != "distance to the machine's end") {
        let cells = row["cells"].as_array().unwrap();
        let by_machine = row["group"] == "reclaim" && cells[5].is_number();
        assert!(by_machine || cells[..5].iter().all(Value::is_number), "{row}");
    }
    assert!(comparison["distance"].is_object(), "the machine's end is known");

    record(&output, &["--", "true"]).fails(64, &["ls.arrows exists", "--force"]);
    let recorded = fs::read(&output).unwrap();
    let ran = record(&output, &["--force", "--", "no-such-command"]);
    ran.fails(64, &["no-such-command", "Check its name"]);
    record(&output, &["--force", "--", "/etc"]).fails(64, &["/etc", "permissions"]);
    assert!(fs::read(&output).unwrap() == recorded, "what was there stays");
    record(&output, &["--force", "--", "true"]).ok();
    assert!(events(&output) > 0);
    let other = folder.path().join("other.arrows");
    record(&other, &["--", "no-such-command"]).fails(64, &["no-such-command"]);
    record(Path::new("/dev/null"), &["--force", "--", "no-such-command"]).fails(64, &["no-such-command"]);
    assert!(!fs::metadata("/dev/null").expect("a device").is_file());
    assert_eq!(names(folder.path()), ["ls.arrows"]);
}

#[test]
fn the_end_of_a_duration() {
    let _machine = alone();
    if !can_record("the_end_of_a_duration") {
        return;
    }
    let folder = folder();
    let output = folder.path().join("out.arrows");
    let began = Instant::now();
    record(&output, &["--duration", "0.3"]).ok();
    assert!(began.elapsed() >= Duration::from_millis(300));
    assert!(info(&output)["ending"]["snapshot"].is_object());
    // A command that outlives the duration gets SIGTERM.
    record(&output, &["--force", "--duration", "0.2", "--", "sleep", "60"]).ok();
    assert!(began.elapsed() < Duration::from_secs(30));
    assert_eq!(info(&output)["ending"]["command_exit"], 128 + 15);
}

#[test]
fn signals_end_a_recording_cleanly() {
    let _machine = alone();
    if !can_record("signals_end_a_recording_cleanly") {
        return;
    }
    let folder = folder();
    for (signal, command) in [(Signal::INT, false), (Signal::TERM, false), (Signal::TERM, true)] {
        let output = folder.path().join(format!("{}{command}.arrows", signal.as_raw()));
        let child = start(&output, if command { &["--", "sleep", "60"] } else { &[] });
        let pid = child.id();
        wait_for_events(&output);
        send(&child, signal);
        let ran = finish_child(child).ok();
        assert!(ran.stderr.contains(" events in "), "{}", ran.stderr);
        let info = info(&output);
        assert!(info["ending"]["snapshot"].is_object(), "the trace is complete");
        assert!(info["summary"]["events"].as_u64() > Some(0));
        assert_eq!(instances_of(pid), [""; 0]);
    }
}

#[test]
fn a_killed_recorder_leaves_a_readable_trace() {
    let _machine = alone();
    if !can_record("a_killed_recorder_leaves_a_readable_trace") {
        return;
    }
    let folder = folder();
    let output = folder.path().join("killed.arrows");
    let child = start(&output, &[]);
    let pid = child.id();
    wait_for_events(&output);
    send(&child, Signal::KILL);
    finish_child(child);
    let trace = output.to_str().unwrap();
    let ran = run(["trace", "info", trace, "--partial", "--json"]).ok();
    assert!(ran.stderr.contains("killed.arrows: the recording was cut short"), "{}", ran.stderr);
    let info = ran.json();
    assert!(info["ending"].is_null() && info["summary"]["events"].as_u64() > Some(0));
    run(["replay", trace, "--partial", "--era", "freehold"]).ok();
    let began = Instant::now();
    while !instances_of(pid).is_empty() && began.elapsed() < Duration::from_secs(10) {
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(instances_of(pid), [""; 0], "no tracing is left behind");
    assert_eq!(names(folder.path()), ["killed.arrows"]);
}

#[test]
fn two_recorders_at_once() {
    let _machine = alone();
    if !can_record("two_recorders_at_once") {
        return;
    }
    let folder = folder();
    let outputs = ["a.arrows", "b.arrows"].map(|name| folder.path().join(name));
    let script = "for i in 1 2 3 4; do ls / >/dev/null; sleep 0.1; done";
    let children: Vec<_> = outputs.iter().map(|output| start(output, &["--", "sh", "-c", script])).collect();
    for (child, output) in children.into_iter().zip(&outputs) {
        finish_child(child).ok();
        let info = info(output);
        assert!(info["summary"]["events"].as_u64() > Some(100) && info["ending"]["command_exit"] == 0);
    }
}

#[test]
fn a_listener_that_goes_away() {
    let _machine = alone();
    if !can_record("a_listener_that_goes_away") {
        return;
    }
    let folder = folder();
    let output = folder.path().join("out.arrows");
    let mut child = start(&output, &["--", "true"]);
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(info(&output)["ending"]["snapshot"].is_object());
}

#[test]
fn failed_command_is_reported_and_its_trace_kept() {
    let _machine = alone();
    if !can_record("failed_command_is_reported_and_its_trace_kept") {
        return;
    }
    let folder = folder();
    let output = folder.path().join("out.arrows");
    for (script, code) in [("false", 1), ("exit 42", 42), ("kill -SEGV $$", 128 + 11)] {
        let ran = record(&output, &["--force", "--", "sh", "-c", script]);
        assert_eq!(ran.code, Some(code), "{script}: {}", ran.stderr);
        assert!(ran.stderr.contains(&format!("ended with exit code {code}")), "{}", ran.stderr);
        assert_eq!(info(&output)["ending"]["command_exit"], code);
    }
    assert_eq!(names(folder.path()), ["out.arrows"]);
}

#[test]
fn a_pipe_takes_a_recording_if_somebody_reads_it() {
    let _machine = alone();
    if !can_record("a_pipe_takes_a_recording_if_somebody_reads_it") {
        return;
    }
    let folder = folder();
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let mut alone = start(&pipe, &["--duration", "0.1"]);
    let began = Instant::now();
    while alone.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < Duration::from_mins(1), "it waits for a reader: {:?}", alone.kill());
        thread::sleep(Duration::from_millis(20));
    }
    finish_child(alone).fails(74, &["no process reads from", "start its reader first"]);

    let copy = folder.path().join("copy.arrows");
    let mut cat = std::process::Command::new("cat");
    let mut cat = cat.arg(&pipe).stdout(fs::File::create(&copy).unwrap()).spawn().unwrap();
    let ran = loop {
        let ran = record(&pipe, &["--duration", "0.3"]);
        // The reader may not have opened it yet.
        if !ran.stderr.contains("nobody reads") {
            break ran;
        }
    };
    ran.ok();
    assert!(cat.wait().unwrap().success());
    assert!(info(&copy)["ending"]["snapshot"].is_object(), "the trace is complete");
    assert_eq!(names(folder.path()), ["copy.arrows", "pipe"]);
}

#[test]
fn two_recorders_of_one_file() {
    let _machine = alone();
    if !can_record("two_recorders_of_one_file") {
        return;
    }
    let folder = folder();
    let output = folder.path().join("out.arrows");
    for force in [&[][..], &["--force"]] {
        let first = start(&output, force);
        let began = Instant::now();
        while names(folder.path()).is_empty() && began.elapsed() < Duration::from_mins(1) {
            thread::sleep(Duration::from_millis(5));
        }
        thread::sleep(Duration::from_millis(100));
        for more in [&[][..], &["--force"]] {
            let more: Vec<_> = more.iter().copied().chain(["--duration", "0.1"]).collect();
            let second = record(&output, &more);
            assert_eq!(second.code, Some(64), "{}", second.stderr);
            let is_explained =
                ["another freehold writes", "exists"].iter().any(|words| second.stderr.contains(words));
            assert!(is_explained, "{}", second.stderr);
        }
        send(&first, Signal::INT);
        finish_child(first).ok();
        assert!(info(&output)["ending"]["snapshot"].is_object(), "the trace is complete");
        assert_eq!(names(folder.path()), ["out.arrows"]);
    }
}

#[test]
fn a_signal_before_the_first_event_leaves_no_empty_file() {
    let _machine = alone();
    if !can_record("a_signal_before_the_first_event_leaves_no_empty_file") {
        return;
    }
    let folder = folder();
    for wait_ms in [0, 3, 10, 30, 60] {
        let output = folder.path().join(format!("{wait_ms}.arrows"));
        let child = start(&output, &[]);
        let began = Instant::now();
        while !output.exists() && began.elapsed() < Duration::from_mins(1) {
            thread::yield_now();
        }
        thread::sleep(Duration::from_millis(wait_ms));
        send(&child, Signal::INT);
        finish_child(child).ok();
        assert!(info(&output)["ending"]["snapshot"].is_object(), "{wait_ms} ms");
    }
}
