//! `freehold check` on the machine that the tests run on. Compaction needs root; without it each test says by
//! name that it is skipped.

mod common;
#[allow(dead_code, reason = "the tests use a part of it")]
mod fragment;

use common::{folder, run, run_words};
use fragment::{Random, WAYS};
use freehold_needs::{has_file, is_root};
use serde_json::Value;

/// Other work on the machine may free and take memory at any moment: the best of a few attempts counts.
const ATTEMPTS: u64 = 4;

/// How far the forecast may be off, in percent.
const ERROR_PERCENT: f64 = 10.0;

/// Fragments memory by the way of this name, and holds the forecast against a real compaction.
fn forecast(test: &str, way: &str) {
    if !is_root(test) {
        return;
    }
    if !["/proc/sys/vm/compact_memory", "/proc/kpageflags"].iter().all(|file| has_file(file, test)) {
        return;
    }
    let (_, make) = WAYS.iter().find(|(name, _)| *name == way).expect("a way of this name");
    let folder = folder();
    let mut seen = Vec::new();
    for seed in 1..=ATTEMPTS {
        println!("seed {seed}");
        let _held = make(&mut Random(seed), 256, folder.path()).expect("memory");
        rustix::fs::sync();
        let ran = run_words("check --try --json --blocks 1000000000");
        assert!(matches!(ran.code, Some(2)), "{:?} {}", ran.code, ran.stderr);
        let tried = &ran.json()["tried"];
        let error = tried["error_percent"].as_f64().expect("a number");
        if error.abs() <= ERROR_PERCENT {
            return;
        }
        seen.push(error);
    }
    panic!("{way}: the forecast was off by {seen:?} percent");
}

#[test]
fn anonymous_memory_with_holes_is_foretold() {
    forecast("anonymous_memory_with_holes_is_foretold", "anonymous");
}

#[test]
fn tmpfs_with_holes_is_foretold() {
    forecast("tmpfs_with_holes_is_foretold", "tmpfs-punched");
}

#[test]
fn mlocked_memory_is_foretold() {
    forecast("mlocked_memory_is_foretold", "mlocked");
}

#[test]
fn whoever_runs_it_gets_an_answer() {
    let ran = run(["check", "--json", "--order", "0"]);
    let report: Value = ran.json();
    assert_eq!(report["exit_code"].as_i64(), ran.code.map(i64::from));
    assert_eq!(report["state"], "available-now");
    if rustix::process::geteuid().is_root() {
        assert!(report["supply"]["after_compaction"].is_u64(), "{report}");
    }
}
