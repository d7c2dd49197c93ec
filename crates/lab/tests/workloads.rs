//! Generated workloads: valid traces, equal for equal seeds, with many fallbacks.

use crate::common::generated;
use freehold::Era;
use freehold_lab::workload::{Plan, write};
use freehold_lab::{Loaded, Measures, Options};
use freehold_trace::{ReadOptions, TraceReader, WriteOptions};

/// A small machine: 128 MiB with two CPUs.
fn small(events: u64) -> Plan {
    Plan { pages: 1 << 15, cpus: 2, events: Some(events), ..Plan::default() }
}

fn replayed(made: &Loaded, era: Era) -> Measures {
    let lab = made.lab().expect("a valid trace");
    lab.replay(&era.into(), Options { runs: 1, ..Options::default() }).expect("a replay").measures
}

#[test]
fn the_same_plan_gives_the_same_bytes() {
    let plan = small(150_000);
    let bytes = |plan: &Plan| write(plan, Vec::new(), WriteOptions::new("made")).expect("a trace");
    let (first, generation) = bytes(&plan);
    let (again, _) = bytes(&plan);
    assert!(first == again, "two traces by seed {} differ", plan.seed);
    let (other, _) = bytes(&Plan { seed: plan.seed + 1, ..plan.clone() });
    assert!(first != other, "another seed, the same trace");
    let mut reader = TraceReader::open(&first[..], ReadOptions::new("made")).expect("a trace");
    let mut events = 0;
    while let Some(batch) = reader.next_batch().expect("a whole trace") {
        events += batch.len() as u64;
    }
    assert_eq!(events, generation.events);
    assert!(events >= 150_000, "{events} events");
    assert_eq!(reader.origin().command, plan.command());
    assert!(!reader.start().occupancy.is_empty());
    let end = reader.ending().and_then(|ending| ending.snapshot.as_ref()).expect("an end");
    let (then, now) = (reader.start().vmstat["pgfree"], end.vmstat["pgfree"]);
    assert!(now > then, "pgfree {then} and {now}");
}

#[test]
fn every_trace_can_be_replayed() {
    let plan = small(150_000);
    let made = generated(&plan);
    for era in [plan.variant.era, Era::Freehold] {
        let measures = replayed(&made, era);
        let followed = measures.followed;
        assert_eq!((followed.refused, followed.misplaced), (0, 0), "on {}", era.name());
        assert_eq!(followed.double_allocs, 0, "on {}", era.name());
        assert!(followed.allocs > 0 && followed.frees > 0);
    }
}

#[test]
fn readers_cause_fallbacks() {
    let made = generated(&small(400_000));
    let measures = replayed(&made, Era::Linux6_12);
    let locked = measures.locked;
    assert!(locked.steals > 10 * locked.claims, "{} steals, {} claims", locked.steals, locked.claims);
    let share = locked.steals * 100 / locked.refilled_blocks.max(1);
    assert!(share >= 10, "{share} % of the refilled blocks are another type's");
    let end = made.trace().ending.and_then(|ending| ending.snapshot.as_ref()).expect("an end");
    let end = &end.vmstat;
    assert!(end["pgscan_kswapd"] > 0 && end["pgsteal_kswapd"] > 0, "{end:?}");
}

#[test]
fn impossible_machines_are_refused() {
    let plan = Plan::default();
    for wrong in
        [Plan { pages: 1, ..plan.clone() }, Plan { pages: 1 << 40, ..plan.clone() }, Plan { cpus: 0, ..plan }]
    {
        let written = write(&wrong, Vec::new(), WriteOptions::new("made"));
        let error = written.expect_err("an impossible machine").to_string();
        assert!(error.contains("no such machine can be generated"), "{error}");
    }
}
