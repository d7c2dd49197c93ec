//! Whatever a trace says, nothing panics, pages are neither made nor lost, and the
//! engine's invariants hold.

use crate::common::{PAGES, Script, machine, order, replay};
use freehold::{Era, GfpFlags, Migratetype, Pfn};
use freehold_lab::workload::Synthetic;
use freehold_lab::{Lab, Options, Variant};
use freehold_trace::{Event, EventKind};
use proptest::prelude::*;

fn event() -> impl Strategy<Value = (bool, u64, u8, u16, u8, u64)> {
    let size = prop_oneof![4 => Just(0_u8), 2 => 1..4_u8, 1 => 4..=10_u8];
    (any::<bool>(), 0..PAGES, size, 0..3_u16, 0..4_u8, 0..3_000_000_u64)
}

fn script(steps: Vec<(bool, u64, u8, u16, u8, u64)>) -> Script {
    let mut script = Script::default();
    let mut time_ns = 0;
    for (is_alloc, at, size, cpu, gfp, pause_ns) in steps {
        time_ns += pause_ns;
        let order = order(size);
        let pfn = Pfn(at & !(order.pages() - 1));
        let gfp = [
            GfpFlags::HIGHUSER_MOVABLE,
            GfpFlags::KERNEL,
            GfpFlags::KERNEL | GfpFlags::RECLAIMABLE,
            GfpFlags::GFP_ATOMIC,
        ][usize::from(gfp)];
        let kind = if is_alloc {
            EventKind::Alloc { pfn: Some(pfn), order, migratetype: gfp.migratetype(), gfp }
        } else {
            EventKind::Free { pfn, order }
        };
        script.events.push(Event { time_ns, cpu, pid: 0, kind });
    }
    script
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn pages_are_neither_made_nor_lost(steps in prop::collection::vec(event(), 1..400)) {
        let script = script(steps);
        for era in Era::ALL {
            let measures = replay(&machine(), &script, &era.into());
            let orders = measures.free_at_end[0].blocks.iter().enumerate();
            let free: u64 = orders.map(|(order, types)| types.iter().sum::<u64>() << order).sum();
            let followed = measures.followed;
            prop_assert_eq!(free + measures.percpu_pages_at_end + followed.held_pages_at_end, PAGES);
            prop_assert_eq!(followed.refused, 0);
            prop_assert_eq!((followed.allocs + followed.frees) as usize, script.events.len());
        }
    }
}

#[test]
fn the_same_trace_measures_the_same() {
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
    // What differs is what sat on per-CPU lists and was allocated first.
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
