//! Per-CPU lists of a replay during and after reclaim of the machine.

use crate::common::{PAGES, Script, machine, order};
use freehold::{Era, Migratetype, Pfn};
use freehold_lab::{Lab, Measures, Options, Trace};
use freehold_trace::{EventKind, Origin, PageWork, Pageset, Snapshot};

/// The limit of a CPU's lists, and the batch.
const HIGH: u64 = 400;
const BATCH: u64 = 31;

/// The limit of a CPU's lists while kswapd reclaims.
const SHORT: u64 = 4 * BATCH;

/// Returns a machine whose per-CPU lists keep pages.
fn with_lists() -> Snapshot {
    let mut start = machine();
    start.zones[0].pagesets =
        vec![Pageset { batch: BATCH, high: HIGH, high_min: HIGH, high_max: HIGH, ..Pageset::default() }];
    start.sysctl = [("percpu_pagelist_high_fraction".to_owned(), (PAGES / HIGH).to_string())].into();
    start
}

/// Replays events on that machine; `recorded` names the recorded events.
fn replay(script: &Script, recorded: &[&str]) -> Measures {
    let events = recorded.iter().map(|&event| event.to_owned()).collect();
    let (origin, start) = (Origin { events, ..Origin::default() }, with_lists());
    let trace = Trace { origin: &origin, start: &start, events: &script.into(), ending: None };
    let lab = Lab::new(trace).expect("a valid trace");
    lab.replay(&Era::Linux6_12.into(), Options { runs: 1, ..Options::default() }).expect("a replay").measures
}

/// Adds allocations of `pages` pages and their frees.
fn used_and_freed(script: Script, pages: u64) -> Script {
    let used = (0..pages).fold(script, |script, pfn| script.alloc(1024 + pfn, 0));
    (0..pages).fold(used, |script, pfn| script.free(1024 + pfn, 0))
}

#[test]
fn lists_are_short_while_kswapd_of_the_machine_reclaims() {
    const KSWAPD: [&str; 1] = ["vmscan:mm_vmscan_kswapd_wake"];
    let wake = EventKind::KswapdWake { order: order(0) };
    let reclaims = used_and_freed(Script::default().push(wake), 300);
    let asleep = used_and_freed(Script::default().push(wake).push(EventKind::KswapdSleep), 300);
    let kept = |script: &Script, recorded: &[&str]| replay(script, recorded).percpu_pages_at_end;
    assert!(kept(&reclaims, &KSWAPD) <= SHORT, "{}", kept(&reclaims, &KSWAPD));
    assert!(kept(&asleep, &KSWAPD) > SHORT, "{}", kept(&asleep, &KSWAPD));
    assert!(kept(&reclaims, &[]) > SHORT, "a trace without kswapd events, in a replay with enough memory");
}

#[test]
fn a_task_that_reclaims_without_success_drains_all_per_cpu_lists() {
    let freed = || used_and_freed(Script::default(), 300);
    let reclaimed = EventKind::Work { work: PageWork::DirectReclaim, pages: 0, obtained: 3 };
    let drain = EventKind::PcpuDrain { pfn: Pfn(1024), order: order(0), migratetype: Migratetype::Movable };
    let kept = |script: &Script| replay(script, &[]).percpu_pages_at_end;
    assert!(kept(&freed()) > SHORT);
    assert_eq!(kept(&freed().push(reclaimed).push(drain)), 0);
    assert!(kept(&freed().push(drain)) > SHORT, "without reclaim");
    assert!(kept(&freed().push(reclaimed).alloc(1024, 0).push(drain)) > SHORT, "after successful reclaim");
}
