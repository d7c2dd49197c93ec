//! No era exceeds the upper bound over all placements with as many moved pages.

use crate::common::{PAGES, Script, generated, machine, recorded};
use freehold::Era;
use freehold_lab::workload::{Plan, Synthetic};
use freehold_lab::{Background, Lab, Options, Trace};
use freehold_trace::{EventKind, Origin};

/// The number of replays compared with the bound, and the number of these that moved pages.
#[derive(Default, Clone, Copy)]
struct Bounded {
    replays: usize,
    moving: usize,
}

/// Asserts the bound for every era whose replay of a trace has no reclaim and no failure.
fn assert_bounded(name: &str, trace: Trace<'_>) -> Bounded {
    let lab = Lab::new(trace).expect("a valid trace");
    let (best, order) = (lab.hindsight(), lab.machine.pageblock_order);
    let mut bounded = Bounded::default();
    for era in Era::ALL {
        let replay = lab.replay(&era.into(), Options { runs: 1, ..Options::default() });
        let measures = replay.expect("a replay").measures;
        let (events, failures) = (measures.events, measures.followed.failures.iter().sum::<u64>());
        if events.pgsteal_direct > 0 || failures > 0 {
            continue;
        }
        let moves = events.pgmigrate_success;
        bounded.replays += 1;
        bounded.moving += usize::from(moves > 0);
        let (era, end, most) = (era.name(), measures.free_pageblocks_at_end, best.end_with_moves(moves));
        let (mean, most_over_time) = (measures.mean_free_pageblocks(order), best.mean_with_moves(moves));
        assert!(end <= most.free_pageblocks, "{name}, {era}, {moves} moves: {end} free, {most:?}");
        assert!(mean <= most_over_time, "{name}, {era}, {moves} moves: {mean} free of {most_over_time}");
        assert!(measures.mixed.end >= most.mixed_pageblocks, "{name}, {era}: {:?}, {most:?}", measures.mixed);
    }
    bounded
}

#[test]
fn an_optimal_placement_reaches_the_bound() {
    // One small page to the end, and four huge pages until shortly after the first of a hundred samples.
    let in_use =
        (0..4).fold(Script::default().alloc(PAGES - 1, 0), |script, block| script.alloc(block * 512, 9));
    let tick = |script: Script, ns: u64| script.push(EventKind::Lost { count: 0 }).wait_ns(ns);
    let in_use = (0..15).fold(in_use, |script, _| tick(script, 100_000));
    let freed = (0..4).fold(in_use, |script, block| script.free(block * 512, 9));
    let script = (0..985).fold(freed, |script, _| tick(script, 100_000));
    let (origin, start) = (Origin::default(), machine());
    let trace = Trace { origin: &origin, start: &start, events: &(&script).into(), ending: None };
    let lab = Lab::new(trace).expect("a valid trace");
    let best = lab.hindsight();
    let replay = lab.replay(&Era::Linux7_3.into(), Options { runs: 1, ..Options::default() });
    let mean = replay.expect("a replay").measures.mean_free_pageblocks(lab.machine.pageblock_order);
    assert!((mean - best.mean_free_pageblocks).abs() < 1e-9, "{mean} against {best:?}");
    assert_eq!(assert_bounded("placed best", trace).replays, Era::ALL.len());
}

#[test]
fn recorded_traces_are_within_the_bound() {
    let mut moving = 0;
    for name in ["database", "near-the-marks", "rust-build-2"] {
        let bounded = assert_bounded(name, recorded(name).trace());
        assert!(bounded.replays >= 4, "{name}: {} replays", bounded.replays);
        moving += bounded.moving;
    }
    assert!(moving > 0, "no replay moved pages");
}

/// The machine of `forks` moved no page. A move therefore costs the default of 4 µs, of a twentieth of a CPU. No era
/// moves pages for a request.
#[test]
fn background_moves_stay_within_the_budget() {
    let recording = recorded("forks");
    let trace = recording.trace();
    let span = trace.events.last().expect("events").time_ns - trace.events.first().expect("events").time_ns;
    let lab = Lab::new(trace).expect("a valid trace");
    for (era, background) in
        [(Era::Linux7_3, Background::ProactiveCompaction), (Era::Freehold, Background::OfVariant)]
    {
        let replay = lab.replay(&era.into(), Options { runs: 1, background, ..Options::default() });
        let moved = replay.expect("a replay").measures.events.pgmigrate_success;
        let most = span / 20 / 4_000 + 512;
        assert!((1..=most).contains(&moved), "{}: {moved} of {most}", era.name());
    }
}

#[test]
fn generated_traces_are_within_the_bound() {
    let (mut bounded, mut moving) = (0, 0);
    for seed in [1, 2] {
        let plan = Plan { pages: 1 << 16, cpus: 2, events: Some(60_000), seed, ..Plan::default() };
        let synthetic = Synthetic { pages: 1 << 16, events: 60_000, seed, ..Synthetic::default() };
        let (readers, synthetic) = (generated(&plan), synthetic.generate().expect("a trace"));
        for (name, trace) in [("mmap-read", readers.trace()), ("synthetic", synthetic.trace())] {
            let of = assert_bounded(&format!("{name}, seed {seed}"), trace);
            bounded += of.replays;
            moving += of.moving;
        }
    }
    assert!(
        bounded > 10 && moving > 3,
        "{bounded} replays were compared with the bound, {moving} of them moved pages"
    );
}
