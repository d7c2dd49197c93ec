//! `freehold check` on the machine that the tests run on. Compaction needs root; without it each test says by
//! name that it is skipped.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use freehold_needs::{Drift, Judgement, Tried, has_file, is_root, skip, too_busy};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::alone::alone;
use crate::common::{folder, freehold, run, run_words};
use crate::fragment::{Random, WAYS};

/// Other work on the machine may free and take memory at any moment: the best of a few attempts counts.
const ATTEMPTS: u64 = 4;

/// How far the forecast may be off on a quiet machine, as a part of it.
const ERROR: f64 = 0.05;

/// Ten ways to fragment memory, by which the forecast of each size is measured.
const TEN: [&str; 10] = [
    "anonymous",
    "anonymous-sparse",
    "huge-pages-punched",
    "page-cache",
    "tmpfs-punched",
    "mlocked",
    "slab-inodes",
    "pipes",
    "page-tables",
    "mixed",
];

/// The pool of gigantic pages of x86-64.
const POOL: &str = "/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages";

/// The MiB by which each way fragments memory, if `FREEHOLD_FRAGMENT_MIB` says nothing else. Ranges are emptied by
/// migration only where memory that others left alone is filled.
const FRAGMENTED_MIB: [(&str, usize); 3] = [("2M", 256), ("32M", 512), ("1G", 1024)];

/// Returns true if forecasts can be tried on this machine; otherwise says by name why not.
fn can_try(test: &str) -> bool {
    is_root(test)
        && ["/proc/sys/vm/compact_memory", "/proc/kpageflags"].iter().all(|file| has_file(file, test))
}

/// Fragments memory by ten ways, or by the one that `FREEHOLD_FRAGMENT_WAY` names, and compares the forecast
/// for blocks of `size`, or ranges of it, with the result of compaction.
fn all_are_predicted(test: &str, size: &str, are_ranges: bool) {
    let _alone = alone();
    let named = std::env::var("FREEHOLD_FRAGMENT_MIB").ok().and_then(|mib| mib.parse().ok());
    let usual = FRAGMENTED_MIB.iter().find(|(of, _)| *of == size).map_or(256, |&(_, mib)| mib);
    let only = std::env::var("FREEHOLD_FRAGMENT_WAY").ok();
    let ways: Vec<_> = TEN.into_iter().filter(|way| only.as_ref().is_none_or(|only| only == way)).collect();
    assert!(!ways.is_empty(), "FREEHOLD_FRAGMENT_WAY is {only:?}, not one of {TEN:?}");
    for way in ways {
        forecast(test, way, size, are_ranges, named.unwrap_or(usual));
    }
}

/// Fragments `mib` MiB of memory by the way of this name, compares the forecast for blocks of `size` with the result, and prints a row of
/// `docs/evidence/sizes.md`. Says so where this machine was too busy for each attempt.
fn forecast(test: &str, way: &str, size: &str, are_ranges: bool, mib: usize) {
    let (_, make) = WAYS.iter().find(|(name, _)| *name == way).expect("a way of this name");
    let folder = folder();
    let (mut wrong, mut busy) = (Vec::new(), Vec::new());
    for seed in 1..=ATTEMPTS {
        let _fragmented = make(&mut Random(seed), mib, folder.path()).expect("memory");
        rustix::fs::sync();
        let (drift, began) = (Drift::measure(order_of(size)), Instant::now());
        let ran = run_words(&format!("check --verify --json --need {size}=1000000000"));
        let (took, drift) = (began.elapsed(), drift.again());
        assert!(matches!(ran.code, Some(2)), "{:?} {}", ran.code, ran.stderr);
        let json = ran.json();
        let tried = &json["tried"];
        let number = |name: &str| tried[name].as_u64().expect("a number");
        let error = tried["error_percent"].as_f64().expect("a number");
        let [before, lower_bound, at_most, real] = ["before", "predicted", "at_most", "real"].map(number);
        println!("| {size} | {way} | {seed} | {before} | {lower_bound} | {at_most} | {real} | {error:+.1} |");
        println!("{:.1} blocks of drift in {:.1} s", drift.blocks_in(took), took.as_secs_f64());
        // No flag tells free pages on CPUs' lists from the kernel's own, so ranges have two bounds.
        let most = if are_ranges { at_most } else { lower_bound };
        let predicted = lower_bound as f64..=most as f64;
        let judged = drift.judge(&Tried { predicted, observed: real as f64, quiet: ERROR, took });
        if judged != Judgement::Right {
            let ranges = json["ranges"]["list"].as_array().into_iter().flatten();
            for range in ranges.filter(|range| range["perhaps"] == true) {
                println!("perhaps: {range}");
            }
        }
        match judged {
            Judgement::Right => return,
            Judgement::Wrong => wrong.push([lower_bound, at_most, real]),
            Judgement::TooBusy(why) => busy.push(why),
        }
    }
    assert!(wrong.is_empty(), "{way}: promised, at most and came were {wrong:?}; {busy:?}");
    too_busy(test, format!("{way}: {}", busy.join("; ")));
}

/// Returns the order of blocks of a size such as `2M`.
fn order_of(size: &str) -> usize {
    let (number, unit) = size.split_at(size.len() - 1);
    let bytes = number.parse::<usize>().expect("a number") << if unit == "G" { 30 } else { 20 };
    (bytes / rustix::param::page_size()).ilog2() as usize
}

#[test]
fn forecast_of_2_mib_blocks_is_right() {
    let test = "forecast_of_2_mib_blocks_is_right";
    if can_try(test) {
        all_are_predicted(test, "2M", false);
    }
}

/// The bytes of the buddy allocator's largest block on this machine.
fn largest_block() -> usize {
    let text = fs::read_to_string("/proc/buddyinfo").expect("/proc/buddyinfo");
    // `Node`, a number, `zone`, a name; then a number for each order.
    let orders = text.lines().next().map_or(0, |line| line.split_whitespace().count() - 4);
    rustix::param::page_size() << (orders - 1)
}

#[test]
fn forecast_of_32_mib_blocks_is_right() {
    let test = "forecast_of_32_mib_blocks_is_right";
    if !can_try(test) {
        return;
    }
    let largest = largest_block() >> 20;
    if largest >= 32 {
        all_are_predicted(test, "32M", false);
    } else if Path::new("/sys/kernel/mm/hugepages/hugepages-32768kB/nr_hugepages").exists() {
        all_are_predicted(test, "32M", true);
    } else {
        skip(test, format!("the largest block is {largest} MiB, and hugetlb has none of 32 MiB"));
    }
}

#[test]
fn forecast_of_1_gib_ranges_is_right() {
    let test = "forecast_of_1_gib_ranges_is_right";
    if can_try(test) && has_file(POOL, test) {
        all_are_predicted(test, "1G", true);
    }
}

/// Ends a trial in the middle, by a signal each time, and waits until the kernel's `file` has its old number back. Returns how often the
/// trial had changed it.
fn old_number_comes_back(file: &str, words: &[&str]) -> usize {
    let _alone = alone();
    let number = || fs::read_to_string(file).expect("a number");
    let (before, mut changed) = (number(), 0);
    for (at, signal) in [Signal::INT, Signal::KILL, Signal::TERM, Signal::KILL].into_iter().enumerate() {
        let mut running =
            freehold(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary");
        let began = Instant::now();
        while number() == before && running.try_wait().expect("a child").is_none() {
            thread::sleep(Duration::from_micros(200));
        }
        changed += usize::from(number() != before);
        // It may have ended by itself.
        let _ = kill_process(Pid::from_child(&running), signal);
        running.wait().expect("a child");
        let until = began + Duration::from_secs(30);
        while number() != before {
            assert!(Instant::now() < until, "attempt {at}: {signal:?} left {file} at {}", number());
            thread::sleep(Duration::from_millis(5));
        }
    }
    println!("{changed} of 4 were ended while {file} was changed");
    changed
}

#[test]
fn pool_size_is_restored_after_a_kill() {
    let test = "pool_size_is_restored_after_a_kill";
    if !can_try(test) || !has_file(POOL, test) {
        return;
    }
    if old_number_comes_back(POOL, &["check", "--verify", "--need", "1G=1000"]) == 0 {
        skip(test, "the kernel gave the pool no page in four attempts");
    }
}

#[test]
fn list_bound_is_restored_after_a_kill() {
    let test = "list_bound_is_restored_after_a_kill";
    let bound = "/proc/sys/vm/percpu_pagelist_high_fraction";
    if can_try(test) && has_file(bound, test) {
        assert!(
            old_number_comes_back(bound, &["check", "--verify", "--need", "2M"]) > 0,
            "lists were not bounded"
        );
    }
}

#[test]
fn a_trial_waits_for_a_repair() {
    let test = "a_trial_waits_for_a_repair";
    if !can_try(test) || !Path::new("/run").is_dir() {
        return;
    }
    let _alone = alone();
    let lock = "/run/freehold-repair.lock";
    let file = fs::OpenOptions::new().create(true).truncate(false).write(true).open(lock).expect("the lock");
    file.lock().expect("nobody repairs");
    let began = Instant::now();
    let mut running =
        freehold(["check", "--verify", "--need", "2M"]).stdout(Stdio::null()).spawn().expect("the binary");
    thread::sleep(Duration::from_millis(700));
    assert!(running.try_wait().expect("a child").is_none(), "it did not wait");
    file.unlock().expect("it was locked");
    assert!(running.wait().expect("a child").code().is_some_and(|code| code < 3));
    assert!(began.elapsed() < Duration::from_secs(50), "it went on at once");
}

#[test]
fn check_works_with_and_without_root() {
    let ran = run(["check", "--json", "--order", "0"]);
    let report: Value = ran.json();
    assert_eq!(report["exit_code"].as_i64(), ran.code.map(i64::from));
    assert_eq!(report["state"], "available-now");
    if rustix::process::geteuid().is_root() {
        assert!(report["supply"]["after_compaction"].is_u64(), "{report}");
    }
}
