//! `freehold snapshot --format metrics`: the file that `node_exporter`'s textfile collector reads.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::serve_common::metrics_file::{Running, metrics_file};
use crate::serve_common::{Machine, value, wait_for};

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_file_is_written_once_and_replaced_only_by_force() {
    let machine = Machine::new();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("freehold.prom");
    let output = metrics_file(&machine, &file, &[]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(value(&text, "freehold_up "), Some(1.0));
    assert!(value(&text, "freehold_machine_free_pages ") > Some(0.0));
    assert!(!text.contains("# EOF") && !text.contains("node="), "{text}");
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let after = line.rsplit_once('}').map_or(line, |(_, after)| after).trim();
        assert!(after.split(' ').count() <= 2, "a value and no time: {line}");
    }
    let refused = metrics_file(&machine, &file, &[]).output().unwrap();
    assert_eq!(refused.status.code(), Some(64), "{refused:?}");
    assert!(said(&refused).contains("--force"), "{refused:?}");
    let all = metrics_file(&machine, &file, &["--force", "--all"]).output().unwrap();
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
        let refused = metrics_file(&machine, &folder.path().join(name), &[]).output().unwrap();
        assert_eq!(refused.status.code(), Some(64), "{refused:?}");
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
    assert_eq!(output.status.code(), Some(64), "{output:?}");
    assert!(said(&output).contains("--format metrics"), "{output:?}");
}

#[test]
fn readers_during_a_write_get_a_whole_file() {
    let machine = Machine::new();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("freehold.prom");
    let mut writer = Running(metrics_file(&machine, &file, &["--interval", "0.01"]).spawn().unwrap());
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
    let mut writer = metrics_file(&machine, &file, &["--interval", "0.05"]);
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
    let mut stderr = String::new();
    std::io::Read::read_to_string(&mut writer.0.stderr.take().unwrap(), &mut stderr).unwrap();
    assert_eq!(stderr.matches("trying again").count(), 1, "{stderr}");
    assert!(stderr.contains("written again"), "{stderr}");
}
