//! Every workload: a valid trace, the same for the same seed, with the character that it is made for.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use freehold::{Era, Order};
use freehold_lab::workload::{Generated, Hygiene, Mix, MixFit, Plan, Workload, collect, write};
use freehold_lab::{Lab, Measures, Options};
use freehold_measure::Cell;
use freehold_trace::{EventKind, ReadOptions, TraceReader, WriteOptions};

/// A small machine: 128 MiB with two CPUs.
fn small(workload: Workload) -> Plan {
    Plan { pages: 1 << 15, cpus: 2, builds: 1, ..Plan::new(workload) }
}

/// Those that need no recorded trace, shortened.
fn plans() -> Vec<Plan> {
    let all = Workload::ALL.into_iter().filter(|&workload| workload != Workload::Mix);
    all.map(|workload| Plan { events: Some(150_000), ..small(workload) }).collect()
}

fn replayed(made: &Generated, era: Era) -> Measures {
    let lab = Lab::new(made.trace()).expect("a valid trace");
    lab.replay(&era.into(), Options { runs: 1, ..Options::default() }).expect("a replay").measures
}

/// The distributions of a trace that is committed with the project.
fn recorded(name: &str) -> Mix {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces").join(name);
    let file = BufReader::new(File::open(&path).expect("a committed trace"));
    let mut reader = TraceReader::open(file, ReadOptions::new(name)).expect("a trace");
    let start = reader.start().clone();
    let mut fit = MixFit::new(name, &start);
    while let Some(batch) = reader.next_batch().expect("a whole trace") {
        for event in batch {
            fit.event(event);
        }
    }
    fit.finish().expect("allocations")
}

#[test]
fn the_same_plan_gives_the_same_bytes() {
    for plan in plans() {
        let bytes = |plan: &Plan| write(plan, Vec::new(), WriteOptions::new("made")).expect("a trace");
        let (first, generation) = bytes(&plan);
        let (again, _) = bytes(&plan);
        assert!(first == again, "{}: two traces by seed {} differ", plan.workload, plan.seed);
        let (other, _) = bytes(&Plan { seed: plan.seed + 1, ..plan.clone() });
        assert!(first != other, "{}: another seed, the same trace", plan.workload);
        let mut reader = TraceReader::open(&first[..], ReadOptions::new("made")).expect("a trace");
        let mut events = 0;
        while let Some(batch) = reader.next_batch().expect("a whole trace") {
            events += batch.len() as u64;
        }
        assert_eq!(events, generation.events);
        assert!(events >= 150_000, "{}: {events} events", plan.workload);
        assert_eq!(reader.origin().command, plan.command());
        assert!(!reader.start().occupancy.is_empty());
        let end = reader.ending().and_then(|ending| ending.snapshot.as_ref()).expect("an end");
        let (then, now) = (reader.start().vmstat["pgfree"], end.vmstat["pgfree"]);
        assert!(now > then, "{}: pgfree {then} and {now}", plan.workload);
    }
}

#[test]
fn every_trace_can_be_replayed() {
    for plan in plans() {
        let made = collect(&plan).expect("a trace");
        for era in [plan.variant.era, Era::Freehold] {
            let measures = replayed(&made, era);
            let followed = measures.followed;
            assert_eq!((followed.refused, followed.misplaced), (0, 0), "{} on {}", plan.workload, era.name());
            assert_eq!(followed.double_allocs, 0, "{} on {}", plan.workload, era.name());
            assert!(followed.allocs > 0 && followed.frees > 0);
        }
    }
}

#[test]
fn a_boot_frees_two_thousand_pages_a_hundred_times() {
    // A zone of 1 GiB is the smallest whose lists move 63 pages at a time, and so up to 2016.
    let plan = Plan { pages: 1 << 18, ..small(Workload::BootFree) };
    let made = collect(&plan).expect("a trace");
    let events: Vec<_> = made.events.iter().collect();
    let frees = events.chunk_by(|a, b| {
        let free = |kind: &EventKind| matches!(kind, EventKind::Free { order: Order::ZERO, .. });
        free(&a.kind) && free(&b.kind) && a.cpu == b.cpu
    });
    let large = frees.filter(|run| run.len() >= 2000).count();
    assert!(large >= 100, "{large} times");
    let measures = replayed(&made, Era::Linux6_12);
    assert!(measures.locked.largest_drain >= 2000, "{} pages", measures.locked.largest_drain);
}

#[test]
fn blocks_are_taken_and_freed_a_thousand_at_a_time() {
    let made = collect(&small(Workload::Pagealloc)).expect("a trace");
    let mut held = [0_i64; 2];
    let mut most = [0; 2];
    let mut compacts = false;
    for event in made.events.iter().filter(|event| event.pid == 1000) {
        assert_eq!(event.cpu, 0);
        match event.kind {
            EventKind::CompactionBegin => compacts = true,
            EventKind::CompactionEnd => compacts = false,
            _ => {}
        }
        if compacts {
            continue;
        }
        let (order, change) = match event.kind {
            EventKind::Alloc { pfn: Some(_), order, .. } => (order, 1),
            EventKind::Free { order, .. } => (order, -1),
            _ => continue,
        };
        let kind = usize::from(order != Order::ZERO);
        assert!(matches!(order.get(), 0 | 4));
        held[kind] += change;
        most[kind] = most[kind].max(held[kind]);
    }
    assert_eq!(held, [0, 0]);
    assert_eq!(most[0], 1024, "single pages");
    assert!(most[1] >= 256, "{} blocks of order 4", most[1]);
}

#[test]
fn readers_live_on_fallbacks() {
    let made = collect(&Plan { events: Some(400_000), ..small(Workload::MmapRead) }).expect("a trace");
    let measures = replayed(&made, Era::Linux6_12);
    let locked = measures.locked;
    assert!(locked.steals > 10 * locked.claims, "{} steals, {} claims", locked.steals, locked.claims);
    let share = locked.steals * 100 / locked.refilled_blocks.max(1);
    assert!(share >= 10, "{share} % of the refilled blocks are another type's");
    let end = made.ending.snapshot.expect("an end").vmstat;
    assert!(end["pgscan_kswapd"] > 0 && end["pgsteal_kswapd"] > 0, "{end:?}");
}

/// The bounds: 10 thousandths of the requests in another class, 50 between the lifetimes of any
/// class that has a hundredth of them.
#[test]
fn a_mix_is_like_what_it_was_fitted_to() {
    for name in ["thp-churn.arrows", "c-build.arrows"] {
        let mix = recorded(name);
        let made = collect(&Plan::like(mix.clone())).expect("a trace");
        let mut fit = MixFit::new(name, &made.start);
        for event in made.events.iter() {
            fit.event(&event);
        }
        let distance = mix.distance(&fit.finish().expect("allocations"));
        assert!(distance.classes <= 10 && distance.lifetimes <= 50, "{name}: {distance:?}");
        let measures = replayed(&made, Era::Linux6_12);
        assert_eq!((measures.followed.refused, measures.followed.misplaced), (0, 0), "{name}");
    }
}

#[test]
fn builds_beside_a_cache_server_reclaim_and_compact() {
    let made = collect(&small(Workload::MemcacheKbuildThp)).expect("a trace");
    let huge = made.events.iter().filter(
        |event| matches!(event.kind, EventKind::Alloc { pfn: Some(_), order, .. } if order.get() == 9),
    );
    assert!(huge.count() > 0, "no huge page");
    assert!(made.events.iter().any(|event| event.kind == EventKind::CompactionBegin), "no compaction");
    let end = made.ending.snapshot.as_ref().expect("an end");
    for name in ["thp_fault_alloc", "pgsteal_kswapd", "compact_migrate_scanned", "pgalloc_dma32"] {
        assert!(end.vmstat.get(name).is_some_and(|&number| number > 0), "{name}: {:?}", end.vmstat);
    }
    let measures = replayed(&made, Era::Linux6_12);
    assert_eq!((measures.followed.refused, measures.followed.misplaced), (0, 0));
}

#[test]
fn the_hygiene_table_has_every_row_of_the_series() {
    let plan = Plan { variant: Era::Linux6_1.into(), builds: 2, ..small(Workload::MemcacheKbuildThp) };
    let hygiene = Hygiene::measure(&plan).expect("a measurement");
    let table = hygiene.table();
    assert_eq!(table.rows.len(), 32);
    assert_eq!(table.columns.len(), 6);
    for row in &table.rows {
        let known = |cell: &Cell| matches!(cell, Cell::Real(_));
        assert!(row.cells[..3].iter().all(known), "{}", row.measure);
        let ours = row.cells[3..5].iter().filter(|cell| known(cell)).count();
        let wanted = if row.measure.starts_with("Kbuild") { 0 } else { 2 };
        assert_eq!(ours, wanted, "{}: {:?}", row.measure, row.cells);
    }
    assert_eq!(hygiene.series().rows.len(), 2);
    let again = Hygiene::measure(&plan).expect("a measurement");
    assert_eq!(hygiene, again, "the same seed, another table");
}

#[test]
fn impossible_machines_are_refused() {
    let plan = Plan::new(Workload::BootFree);
    for wrong in [
        Plan { pages: 1, ..plan.clone() },
        Plan { pages: 1 << 40, ..plan.clone() },
        Plan { cpus: 0, ..plan.clone() },
        Plan { workload: Workload::Mix, ..plan },
    ] {
        let error = collect(&wrong).expect_err("an impossible machine").to_string();
        assert!(error.contains("no such machine can be made up"), "{error}");
    }
}
