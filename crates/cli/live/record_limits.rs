//! Recordings that end by themselves, and what they say of their cost and of what they lost.

use std::fs;
use std::path::Path;

use freehold_linux::procfs::read_pressure;
use freehold_needs::{MemoryCgroup, has_file, skip};
use serde_json::Value;

use crate::alone::alone;
use crate::common::{Ran, folder, names, run};
use crate::recordable::can_record;

fn record(output: &Path, more: &[&str]) -> Ran {
    let output = output.to_str().unwrap();
    run([&["record", "--no-occupancy", "--force", "-o", output], more].concat())
}

fn info(trace: &Path) -> Value {
    run(["trace", "info", trace.to_str().unwrap(), "--json"]).ok().json()
}

/// How often pressure is waited for: others on the machine may wait for memory, too.
const TRIES: u32 = 3;

const BUSY: &str = "while true; do ls / >/dev/null; done";

#[test]
fn a_size_ends_it_before_the_file_is_larger() {
    let _machine = alone();
    if !can_record("a_size_ends_it_before_the_file_is_larger") {
        return;
    }
    let folder = folder();
    let output = folder.path().join("out.arrows");
    // Room for what may still come is kept free: a megabyte and more where a busy recorder reads what had gathered.
    let ran = record(&output, &["--max-size", "4MB", "--", "sh", "-c", BUSY]).ok();
    assert!(ran.stderr.contains("stopped: the file had the size allowed"), "{}", ran.stderr);
    let bytes = output.metadata().unwrap().len();
    assert!(bytes <= 4_000_000 && bytes > 1_000_000, "{bytes} bytes");
    let ending = &info(&output)["ending"];
    assert_eq!((&ending["stopped_by"], &ending["command_exit"]), (&"max-size".into(), &143.into()));
    assert!(ending["snapshot"].is_object(), "the trace is whole");

    record(&output, &["--max-events", "5000", "--", "sh", "-c", BUSY]).ok();
    let whole = info(&output);
    assert_eq!(whole["ending"]["stopped_by"], "max-events");
    assert!(whole["summary"]["events"].as_u64() >= Some(5000));
    let text = run(["trace", "info", output.to_str().unwrap()]).ok().stdout;
    assert!(text.contains("ended       the number of events was reached"), "{text}");
}

#[test]
fn cost_of_recording_is_measured_and_kept() {
    let _machine = alone();
    if !can_record("cost_of_recording_is_measured_and_kept") {
        return;
    }
    let folder = folder();
    let output = folder.path().join("out.arrows");
    let count = folder.path().join("count");
    let script = format!("echo x >> {}; ls / >/dev/null; sleep 0.02", count.display());
    let ran = record(&output, &["--measure-effect", "3", "--", "sh", "-c", &script]).ok();
    assert!(ran.stderr.contains("median and quartiles of 3 runs each: 0."), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(&count).unwrap().lines().count(), 7, "one to warm up, three of each sort");
    let effect = &info(&output)["ending"]["disturbance"]["effect"];
    assert_eq!(effect["runs"], 3);
    assert!(effect["with"]["wall_ns"]["median"].as_f64() > Some(20e6), "{effect}");
    let text = run(["trace", "info", output.to_str().unwrap()]).ok().stdout;
    assert!(text.contains("without recording, 0."), "{text}");
    assert_eq!(names(folder.path()), ["count", "out.arrows"], "the other recordings are gone");

    record(&output, &["--measure-effect", "2"]).fails(64, &["--measure-effect", "COMMAND"]);
    record(&output, &["--measure-effect", "2", "--duration", "1", "--", "true"]).fails(64, &["--duration"]);
    let ran = record(&output, &["--measure-effect", "2", "--", "no-such-command"]);
    ran.fails(64, &["no-such-command", "Check its name"]);
    assert_eq!(info(&output)["ending"]["disturbance"]["effect"]["runs"], 3, "what was there stays");
}

#[test]
fn losses_of_a_small_buffer_are_reported() {
    let _machine = alone();
    if !can_record("losses_of_a_small_buffer_are_reported") {
        return;
    }
    let folder = folder();
    let output = folder.path().join("out.arrows");
    let script = "head -c 300000000 /dev/zero | tail -c 250000000 >/dev/null";
    record(&output, &["--buffer", "16", "--", "sh", "-c", script]).ok();
    let trace = output.to_str().unwrap();
    let json = run(["compare", trace, "--timing-rounds", "1", "--replicates", "2", "--json"]).ok().json();
    let gaps = &json["gaps"];
    assert!(gaps["places"].as_array().unwrap().len() > 1, "{gaps}");
    for place in gaps["places"].as_array().unwrap() {
        assert!(place["begin_ns"].as_u64() <= place["end_ns"].as_u64(), "{place}");
    }
    let cpus = gaps["cpus"].as_array().unwrap();
    let ending = &info(&output)["ending"]["lost_by_cpu"];
    for cpu in cpus {
        assert_eq!(cpu["events"], ending[cpu["cpu"].as_u64().unwrap() as usize], "{cpu}");
        assert!(cpu["uncertain_pages"].as_u64() >= cpu["likely_pages"].as_u64());
    }
    let said = json["sentences"][0].as_str().unwrap();
    assert!(said.starts_with("CPU ") && said.contains(" lost ") && said.contains("at most"), "{said}");
    let text = run(["replay", trace, "--era", "freehold"]).ok().stdout;
    assert!(text.contains("since the first gap"), "{text}");
}

#[test]
fn contradictory_arguments_are_refused() {
    let folder = folder();
    let output = folder.path().join("out.arrows");
    record(&output, &["--max-size", "5"]).fails(64, &["--max-size", "500MB"]);
    record(&output, &["--ring", "1"]).fails(64, &["--ring", "2 to 86400"]);
    record(&output, &["--ring-memory", "64MB"]).fails(64, &["--ring"]);
    record(&output, &["--until-failure", "19"]).fails(64, &["an order is 0 to 18"]);
    record(&output, &["--until-failure", "18"]).fails(64, &["no blocks of order 18", "its largest order is"]);
    record(&output, &["--until-above", "luck=1"]).fails(64, &["unusable_index"]);
    record(&output, &["--events", "sched"]).fails(64, &["page_isolation"]);
    record(&output, &["--until-above", "free_pages=1", "--zone", "Sky"]).fails(64, &["no such zone"]);
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn a_ring_ends_with_its_trigger() {
    let _machine = alone();
    if !can_record("a_ring_ends_with_its_trigger") {
        return;
    }
    let folder = folder();
    let output = folder.path().join("out.arrows");
    let triggers = [
        ("--until-above", "free_pages=1", "free_pages = "),
        ("--until-below", "unusable_index:10=1", "unusable_index:10 = "),
    ];
    for (side, threshold, seen) in triggers {
        let ran = record(&output, &["--ring", "2", side, threshold, "--", "sh", "-c", BUSY]).ok();
        assert!(ran.stderr.contains(&format!("the trigger fired: {seen}")), "{}", ran.stderr);
        let info = info(&output);
        assert_eq!(info["ending"]["stopped_by"], "trigger");
        assert!(info["ending"]["trigger"].as_str().unwrap().starts_with(seen));
        assert!(info["summary"]["events"].as_u64() > Some(100));
        run(["replay", output.to_str().unwrap(), "--era", "freehold"]).ok();
    }
    let ran = record(&output, &["--ring", "2", "--duration", "9", "--", "sh", "-c", BUSY]).ok();
    assert!(ran.stderr.contains("stopped: the time was over"), "{}", ran.stderr);
    let summary = &info(&output)["summary"];
    let seconds = (summary["last_ns"].as_u64().unwrap() - summary["first_ns"].as_u64().unwrap()) as f64 / 1e9;
    // On a loaded machine snapshots and the command's end take their time.
    assert!((1.9..8.0).contains(&seconds), "{seconds} s of 9 s are kept");
}

#[test]
fn pressure_ends_a_recording() {
    let _machine = alone();
    let test = "pressure_ends_a_recording";
    if !can_record(test) || !has_file("/proc/pressure/memory", test) {
        return;
    }
    let Some(group) = MemoryCgroup::new(12 << 20, test) else { return };
    let folder = folder();
    let output = folder.path().join("out.arrows");
    let large = folder.path().join("large");
    // A file a little larger than the memory of the group that wrote it, read again and again: reads wait for
    // reclaim.
    let script = format!(
        "{0}; head -c 20M /dev/zero > {1}; while true; do cat {1} >/dev/null; done",
        group.join(),
        large.display()
    );
    let mut kinds = Value::Null;
    for _ in 0..TRIES {
        // What others waited for just before counts for ten seconds.
        let before = read_pressure(Path::new("/")).unwrap().some.avg10;
        let above = format!("pressure_some={:.2}", before + 0.05);
        let more = ["--ring", "2", "--duration", "15", "--until-above", &above, "--"];
        let ran = record(&output, &[&more[..], &["sh", "-c", &script]].concat()).ok();
        let ending = &info(&output)["ending"];
        if ending["stopped_by"] == "duration" {
            return skip(
                test,
                format!("reading a file in a small group made nobody wait here: {}", ran.stderr),
            );
        }
        assert_eq!(ending["stopped_by"], "trigger", "{}", ran.stderr);
        assert!(ending["trigger"].as_str().unwrap().starts_with("pressure_some = "), "{ending}");
        kinds = info(&output)["summary"]["kinds"].clone();
        if kinds["shrink_inactive"].as_u64() > Some(0) {
            return;
        }
    }
    panic!("what waited for was reclaim, {TRIES} times: {kinds}");
}
