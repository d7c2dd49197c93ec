//! Random traces cause no panic, the number of pages stays constant, and the invariants of
//! the engine hold.

use crate::common::{PAGES, Script, machine, order, replay};
use fastrand::Rng;
use freehold::{Era, GfpFlags, Migratetype, Pfn};
use freehold_lab::workload::Synthetic;
use freehold_lab::{Lab, Options, Variant};
use freehold_trace::{Event, EventKind};

fn script(random: &mut Rng) -> Script {
    let mut script = Script::default();
    let mut time_ns = 0;
    for _ in 0..random.usize(1..400) {
        time_ns += random.u64(..3_000_000);
        let size = match random.u8(..7) {
            0..4 => 0,
            4..6 => random.u8(1..4),
            _ => random.u8(4..=10),
        };
        let order = order(size);
        let pfn = Pfn(random.u64(..PAGES) & !(order.pages() - 1));
        let gfp = [
            GfpFlags::HIGHUSER_MOVABLE,
            GfpFlags::KERNEL,
            GfpFlags::KERNEL | GfpFlags::RECLAIMABLE,
            GfpFlags::GFP_ATOMIC,
        ][random.usize(..4)];
        let kind = if random.bool() {
            EventKind::Alloc { pfn: Some(pfn), order, migratetype: gfp.migratetype(), gfp }
        } else {
            EventKind::Free { pfn, order }
        };
        script.events.push(Event { time_ns, cpu: random.u16(..3), pid: 0, kind });
    }
    script
}

#[test]
fn the_number_of_pages_is_constant() {
    for seed in 0..96 {
        println!("seed {seed}");
        let script = script(&mut Rng::with_seed(seed));
        for era in Era::ALL {
            let measures = replay(&machine(), &script, &era.into());
            let orders = measures.free_at_end[0].blocks.iter().enumerate();
            let free: u64 = orders.map(|(order, types)| types.iter().sum::<u64>() << order).sum();
            let followed = measures.followed;
            assert_eq!(free + measures.percpu_pages_at_end + followed.pages_in_use_at_end, PAGES);
            assert_eq!(followed.refused, 0);
            assert_eq!((followed.allocs + followed.frees) as usize, script.events.len());
        }
    }
}

#[test]
fn the_same_trace_has_the_same_measures() {
    let made =
        Synthetic { events: 40_000, pages: 1 << 14, ..Synthetic::default() }.generate().expect("a trace");
    let again =
        Synthetic { events: 40_000, pages: 1 << 14, ..Synthetic::default() }.generate().expect("a trace");
    assert_eq!(made.events, again.events);
    let measure = || {
        let lab = Lab::new(made.trace()).expect("a valid trace");
        let replay = lab.replay(&Variant::new(Era::Linux6_1), Options { runs: 2, ..Options::default() });
        let replay = replay.expect("a replay");
        (replay.measures.without_timing(), replay.pagetypeinfo)
    };
    assert_eq!(measure(), measure());
}

#[test]
fn the_start_state_agrees_with_the_machine() {
    let made = Synthetic { events: 40_000, ..Synthetic::default() }.generate().expect("a trace");
    let lab = Lab::new(made.trace()).expect("a valid trace");
    let report = lab.start_report();
    // Only pages that were on per-CPU lists and were allocated first differ.
    let from_lists = report.corrections.used_but_free + report.corrections.on_lists;
    for fit in &report.fit.zones {
        assert!(fit.known && fit.pageblocks == 0, "{fit:?}");
        assert!(fit.free_pages <= 2 * from_lists, "{fit:?} with {from_lists} pages from per-CPU lists");
    }
    let mut start = made.start.clone();
    start.occupancy.clear();
    let lab = Lab::new(freehold_lab::Trace { start: &start, ..made.trace() }).expect("a valid trace");
    assert!(lab.start_report().corrections.made_up);
    assert!(lab.start_report().fit.zones.iter().all(|fit| fit.known && fit.pageblocks == 0));
}

#[test]
fn migratetypes_beyond_the_lists_are_harmless() {
    let gfp = GfpFlags::all();
    let alloc =
        EventKind::Alloc { pfn: Some(Pfn(4)), order: order(2), migratetype: Migratetype::Isolate, gfp };
    let measures = replay(&machine(), &Script::default().push(alloc), &Era::Linux7_3.into());
    assert_eq!(measures.followed.allocs, 1);
}
