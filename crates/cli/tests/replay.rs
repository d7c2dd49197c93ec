//! One era in depth: what each system changes, and the kernel's text of the end.

use std::thread;

use freehold_linux::procfs::parse_pagetypeinfo;
use serde_json::Value;

use crate::common::compared::PIPES_TRACE;
use crate::common::{self, ERAS, fixture, run, sample};

/// Replays a guest that runs out of memory in the era `freehold` without `system`; all four systems if it is empty.
fn without(system: &str) -> Value {
    let trace = sample(PIPES_TRACE);
    let mut args = vec!["replay", &trace, "--era", "freehold", "--json"];
    // With it, hardly a claim fails, with or without remembered mode.
    args.extend(["--without", "claims-used-first"]);
    if !system.is_empty() {
        args.extend(["--without", system]);
    }
    run(args).ok().json()["replay"]["measures"].clone()
}

#[track_caller]
fn number(measures: &Value, path: &str) -> u64 {
    measures.pointer(path).and_then(Value::as_u64).unwrap_or_else(|| panic!("no number at {path}"))
}

#[test]
fn the_systems_show_in_the_figures() {
    let systems = ["", "remembered-mode", "hygiene", "batched-draining", "counts"];
    let [all, mode, hygiene, batched, counts] = thread::scope(|scope| {
        systems.map(|system| scope.spawn(move || without(system))).map(|replay| replay.join().unwrap())
    });
    let claims = "/locked/claim_attempts";
    let [with, less] = [&all, &mode].map(|m| number(m, claims));
    assert!(with > 0 && less > 2 * with, "remembered mode: {less} → {with} claim attempts");

    let misplaced = "/locked/hygiene_violations";
    let [with, less] = [&all, &hygiene].map(|m| number(m, misplaced));
    assert!(with == 0 && less > 0, "hygiene: {less} → {with} blocks on another type's list");

    let drain = "/locked/largest_drain";
    let [with, less] = [&all, &batched].map(|m| number(m, drain));
    assert!(with > 0 && less > with, "batched draining: {less} → {with} pages in the largest drain");

    let [with, less] = [&all, &counts].map(|m| number(m, "/nodes/max"));
    assert!(with == 0 && less > 0, "counts: {less} → {with} nodes visited");
}

/// Where the words of a line end, and those of its words that are no numbers.
fn layout(line: &str) -> (Vec<usize>, Vec<&str>) {
    let mut ends = Vec::new();
    for (at, _) in line.match_indices(' ') {
        if at > 0 && !line[..at].ends_with(' ') {
            ends.push(at);
        }
    }
    let labels = line.split_ascii_whitespace().filter(|word| word.parse::<u64>().is_err());
    (ends, labels.collect())
}

#[test]
fn the_end_state_reads_as_the_kernels_text() {
    let (_folder, trace) = common::small_trace();
    let machine = std::fs::read_to_string(fixture("pagetypeinfo")).unwrap();
    for era in [ERAS[0], ERAS[4]] {
        let args = ["replay", trace.to_str().unwrap(), "--era", era, "--pagetypeinfo"];
        let text = run(args).ok().stdout;
        let info = parse_pagetypeinfo(&text).expect("the kernel's format");
        let expected = parse_pagetypeinfo(&machine).unwrap();
        assert_eq!((info.pageblock_order, &info.types), (expected.pageblock_order, &expected.types));
        for (zone, there) in info.zones.iter().zip(&expected.zones) {
            assert_eq!((zone.node, &zone.name), (there.node, &there.name));
            let [blocks, expected] = [zone, there].map(|zone| zone.blocks.iter().sum::<u64>());
            assert_eq!(blocks, expected, "pageblocks of {}", zone.name);
        }
        assert_eq!(text.lines().count(), machine.lines().count(), "{text}");
        for (line, there) in text.lines().zip(machine.lines()) {
            assert_eq!(layout(line), layout(there), "{line:?} against {there:?}");
            assert_eq!(line.len(), there.len(), "{line:?}");
        }
        assert_eq!(text.ends_with("\n\n"), machine.ends_with("\n\n"));
    }
}

#[test]
fn the_machines_own_rows_are_kept() {
    let trace = sample(PIPES_TRACE);
    let text = run(["replay", &trace, "--era", "linux-7.3", "--pagetypeinfo"]).ok().stdout;
    let info = parse_pagetypeinfo(&text).expect("the kernel's format");
    let free: u64 = info.zones.iter().flat_map(|zone| zone.free.iter().flatten()).map(|c| c.blocks).sum();
    assert!(free > 0);
}

#[test]
fn a_replay_in_text_and_csv() {
    let (_folder, trace) = common::made_up_trace();
    let trace = trace.to_str().unwrap();
    let text = run(["replay", trace, "--era", "linux-6.1"]).ok().stdout;
    assert!(text.contains("claim attempts") && text.contains("Free blocks at the end"), "{text}");
    let csv = run(["replay", trace, "--era", "linux-6.1", "--with", "hygiene", "--csv"]).ok().stdout;
    assert!(csv.starts_with("# ") && csv.contains("linux-6.1 with hygiene,machine\r\n"), "{csv}");
}
