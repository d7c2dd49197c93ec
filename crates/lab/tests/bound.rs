//! No era that moves nothing exceeds the bound that hindsight allows.

mod common;

use common::{PAGES, Script, machine, recorded};
use freehold::Era;
use freehold_lab::workload::{Plan, Workload, collect};
use freehold_lab::{Lab, Options, Trace};
use freehold_trace::{EventKind, Origin};

/// Asserts the bound for every era that moves, reclaims and fails nothing of a trace. Returns the number of these.
fn assert_bounded(name: &str, trace: Trace<'_>) -> usize {
    let lab = Lab::new(trace).expect("a valid trace");
    let (best, order) = (lab.hindsight(), lab.machine.pageblock_order);
    let mut bounded = 0;
    for era in Era::ALL {
        let replay = lab.replay(&era.into(), Options { runs: 1, ..Options::default() });
        let measures = replay.expect("a replay").measures;
        let (events, failures) = (measures.events, measures.followed.failures.iter().sum::<u64>());
        if events.pgmigrate_success > 0 || events.pgsteal_direct > 0 || failures > 0 {
            continue;
        }
        bounded += 1;
        let (era, end) = (era.name(), measures.free_pageblocks_at_end);
        let mean = measures.mean_free_pageblocks(order);
        assert!(end <= best.end.free_pageblocks, "{name}, {era}: {end} free, {best:?}");
        assert!(mean <= best.mean_free_pageblocks, "{name}, {era}: {mean} free over time, {best:?}");
        assert!(
            measures.mixed.end >= best.end.mixed_pageblocks,
            "{name}, {era}: {:?}, {best:?}",
            measures.mixed
        );
    }
    bounded
}

#[test]
fn a_replay_that_places_everything_best_is_at_the_bound() {
    // A small page for good, and four huge ones until shortly behind the first of a hundred samples.
    let held =
        (0..4).fold(Script::default().alloc(PAGES - 1, 0), |script, block| script.alloc(block * 512, 9));
    let tick = |script: Script, ns: u64| script.push(EventKind::Lost { count: 0 }).wait_ns(ns);
    let held = (0..15).fold(held, |script, _| tick(script, 100_000));
    let freed = (0..4).fold(held, |script, block| script.free(block * 512, 9));
    let script = (0..985).fold(freed, |script, _| tick(script, 100_000));
    let (origin, start) = (Origin::default(), machine());
    let trace = Trace { origin: &origin, start: &start, events: &(&script).into(), ending: None };
    let lab = Lab::new(trace).expect("a valid trace");
    let best = lab.hindsight();
    let replay = lab.replay(&Era::Linux7_3.into(), Options { runs: 1, ..Options::default() });
    let mean = replay.expect("a replay").measures.mean_free_pageblocks(lab.machine.pageblock_order);
    assert!((mean - best.mean_free_pageblocks).abs() < 1e-9, "{mean} against {best:?}");
    assert_eq!(assert_bounded("placed best", trace), Era::ALL.len());
}

#[test]
fn recorded_traces_are_within_the_bound() {
    for name in ["database", "database-3", "forks"] {
        assert!(assert_bounded(name, recorded(name).trace()) >= 4, "{name}: Linux's eras move nothing");
    }
}

#[test]
fn generated_traces_are_within_the_bound() {
    let mut bounded = 0;
    for workload in Workload::ALL.into_iter().filter(|&workload| workload != Workload::Mix) {
        for seed in [1, 2] {
            let plan = Plan {
                pages: 1 << 16,
                cpus: 2,
                builds: 1,
                events: Some(60_000),
                seed,
                ..Plan::new(workload)
            };
            let made = collect(&plan).expect("a trace");
            bounded += assert_bounded(&format!("{workload}, seed {seed}"), made.trace());
        }
    }
    assert!(bounded > 10, "{bounded} replays were held against the bound");
}
