//! The replay of each kind of event.

use crate::common::{PAGES, Script, machine, order, replay};
use freehold::{Era, GfpFlags, Migratetype, Pfn};
use freehold_lab::{Followed, Lab, LabError, Measures, Trace};
use freehold_trace::{
    ByOrder, EventKind, EventLog, FrameUse, FreeCount, Origin, PageTypeInfo, PageTypeZone, Run, Snapshot,
};

fn followed(script: &Script) -> Followed {
    let measures = replay(&machine(), script, &Era::Linux6_12.into());
    assert_eq!(measures.followed.refused, 0);
    measures.followed
}

#[test]
fn a_small_trace_has_the_expected_numbers() {
    let script =
        Script::default().alloc(100, 0).alloc(101, 0).alloc(8, 3).free(101, 0).free(100, 0).free(8, 3);
    let measures = replay(&machine(), &script, &Era::Linux6_12.into());
    let followed = Followed { allocs: 3, frees: 3, ..Followed::default() };
    assert_eq!(measures.followed, followed);
    // Lists that keep no pages: one refill and one drain for each block, each in its own hold.
    let locked = measures.locked;
    assert_eq!((locked.refills, locked.refilled_blocks, locked.drains), (3, 3, 3));
    assert_eq!((locked.drained_pages, locked.largest_drain, locked.lock_holds), (10, 8, 6));
    assert_eq!((locked.fallback_searches, locked.claims, measures.type_mismatches), (0, 0, 0));
    let blocks = &measures.free_at_end[0].blocks;
    assert_eq!(blocks[10][Migratetype::Movable.index()], PAGES / 1024);
    assert_eq!(blocks.iter().flatten().sum::<u64>(), PAGES / 1024);
    // Four free blocks of order 10 are four list nodes, and there is none while all memory is split up.
    assert_eq!((measures.nodes.start, measures.nodes.end), (4, 4));
    assert_eq!(measures.samples.first().map(|sample| sample.zones[0].unusable_index[10]), Some(0));
}

#[test]
fn a_partial_free_splits_the_block() {
    let script = Script::default().alloc(16, 2).free(17, 0).free(16, 0).free(18, 0);
    let followed = followed(&script);
    assert_eq!((followed.splits, followed.unknown_frees, followed.in_use_at_end), (1, 0, 1));
}

#[test]
fn one_free_can_free_several_blocks() {
    let script = Script::default().alloc(16, 0).alloc(17, 0).alloc(18, 1).free(16, 2);
    let all = followed(&script);
    assert_eq!((all.regrouped_frees, all.unknown_pages, all.in_use_at_end), (1, 0, 0));
    let some = followed(&Script::default().alloc(16, 0).free(16, 0).alloc(17, 0).free(16, 1));
    assert_eq!((some.regrouped_frees, some.unknown_pages, some.unknown_frees), (1, 1, 0));
}

#[test]
fn frees_without_an_allocation_are_counted() {
    let followed = followed(&Script::default().alloc(16, 0).free(16, 0).free(16, 0));
    assert_eq!((followed.frees, followed.unknown_frees, followed.unknown_pages), (2, 1, 1));
}

#[test]
fn a_block_freed_first_was_in_use_at_the_start() {
    let followed = followed(&Script::default().free(32, 3).alloc(32, 0));
    assert_eq!((followed.unknown_frees, followed.in_use_at_end, followed.pages_in_use_at_end), (0, 1, 1));
}

#[test]
fn a_block_allocated_twice_was_freed_without_an_event() {
    let twice = followed(&Script::default().alloc(16, 0).alloc(16, 0).free(16, 0));
    assert_eq!((twice.double_allocs, twice.unknown_frees, twice.in_use_at_end), (1, 0, 0));
    let inside = followed(&Script::default().alloc(16, 3).alloc(17, 0).free(16, 3));
    assert_eq!((inside.double_allocs, inside.splits, inside.in_use_at_end), (1, 1, 0));
    let around = followed(&Script::default().alloc(17, 0).alloc(16, 3).free(16, 3));
    assert_eq!((around.double_allocs, around.splits, around.in_use_at_end), (1, 0, 0));
}

#[test]
fn failures_in_the_replay_are_counted_and_their_frees_skipped() {
    // Three pages are free, and compaction moves pages there without events: no free page is left.
    let run = |start, pages, used_for| Run { start: Pfn(start), pages, used_for };
    let occupancy = vec![
        run(0, 16, FrameUse::Other),
        run(16, 1, FrameUse::Free),
        run(17, 1, FrameUse::Other),
        run(18, 2, FrameUse::Free),
        run(20, PAGES - 20, FrameUse::Other),
    ];
    let start = Snapshot { occupancy, ..machine() };
    let script = Script::default().alloc(16, 0).alloc(18, 1).push(EventKind::CompactionBegin);
    let script = script.free(16, 0).free(18, 1).push(EventKind::CompactionEnd);
    let script = script.alloc(16, 0).alloc(18, 1).free(16, 0).free(18, 0).free(19, 0);
    let followed = replay(&start, &script, &Era::Linux7_3.into()).followed;
    assert_eq!((followed.failures[0], followed.failures[1], followed.waits), (1, 1, 2));
    assert_eq!((followed.skipped_frees, followed.splits, followed.unknown_frees), (3, 1, 0));
    assert_eq!((followed.refused, followed.in_use_at_end, followed.moved_by_compaction), (0, 2, 2));
}

#[test]
fn requests_below_the_watermarks_succeed_and_are_counted() {
    let mut start = machine();
    let zone = &mut start.zones[0];
    (zone.watermark_min, zone.watermark_low, zone.watermark_high) = (PAGES, PAGES, PAGES);
    let script = Script::default().alloc(16, 0).alloc(18, 1).free(16, 0).free(18, 1);
    let measures = replay(&start, &script, &Era::Linux7_3.into());
    assert_eq!((measures.followed.waits, measures.slow_paths, measures.failed()), (2, 2, 0));
    // A costly request does not go below the watermarks.
    let script = Script::default().alloc(16, 3).alloc(32, 4);
    let followed = replay(&start, &script, &Era::Linux7_3.into()).followed;
    assert_eq!((followed.waits, followed.failures[3], followed.failures[4]), (2, 0, 1));
}

#[test]
fn failures_on_the_machine_are_counted_and_not_replayed() {
    let (migratetype, gfp) = (Migratetype::Movable, GfpFlags::TRANSHUGE_LIGHT);
    let failed = EventKind::Alloc { pfn: None, order: order(9), migratetype, gfp };
    let followed = followed(&Script::default().push(failed));
    assert_eq!((followed.machine_failures[9], followed.allocs), (1, 0));
}

#[test]
fn lost_and_misaligned_events_are_counted() {
    let script = Script::default();
    let script = script.push(EventKind::Lost { count: 7 }).push(EventKind::Lost { count: 0 }).free(17, 1);
    let followed = followed(&script);
    assert_eq!((followed.lost_places, followed.lost_events, followed.misplaced), (2, 7, 1));
}

#[test]
fn lists_are_refreshed_once_a_second_and_a_pause_takes_no_time() {
    let script = Script::default().alloc(1, 0).free(1, 0).wait_ns(1_500_000_000).alloc(1, 0);
    assert_eq!(followed(&script).refreshes, 1);
    assert!(followed(&script.wait_ns(u64::MAX / 2)).refreshes <= 65);
}

#[test]
fn a_block_outside_all_zones_is_an_error() {
    for script in [Script::default().alloc(PAGES, 0), Script::default().free(PAGES - 1024 + 1024, 10)] {
        let (origin, start) = (Origin::default(), machine());
        let trace = Trace { origin: &origin, start: &start, events: &(&script).into(), ending: None };
        assert!(matches!(Lab::new(trace), Err(LabError::OutsideZones { event: 0, .. })));
    }
}

#[test]
fn impossible_numbers_are_errors_or_harmless() {
    let mut start = machine();
    start.pagetypeinfo = PageTypeInfo {
        pageblock_order: 9,
        zones: vec![PageTypeZone {
            name: "Normal".to_owned(),
            free: [ByOrder::from_values(&[FreeCount { blocks: u64::MAX, capped: false }; 11]).unwrap(); 6]
                .into(),
            blocks: [u64::MAX; 6].into(),
            ..PageTypeZone::default()
        }],
        ..PageTypeInfo::default()
    };
    let mut late = Script::default().alloc(0, 0).free(0, 0);
    late.events[1].time_ns = u64::MAX;
    replay(&start, &late, &Era::Freehold.into());
    start.occupancy.clear();
    replay(&start, &late, &Era::Linux6_1.into());
    start.zones[0].start_pfn = u64::MAX - 100;
    let origin = Origin::default();
    let trace = Trace { origin: &origin, start: &start, events: &EventLog::default(), ending: None };
    assert!(matches!(Lab::new(trace), Err(LabError::OutOfRange { .. })));
}

#[test]
fn frames_without_events_have_the_state_of_the_snapshot() {
    let mut start = machine();
    let uses = [FrameUse::Movable, FrameUse::Slab, FrameUse::Hugetlb, FrameUse::Absent, FrameUse::Free];
    let runs = (0..).zip(uses);
    start.occupancy = runs.map(|(n, used_for)| Run { start: Pfn(n * 512), pages: 512, used_for }).collect();
    let measures: Measures =
        replay(&start, &Script::default().alloc(0, 0).free(512, 1), &Era::Freehold.into());
    // Free: pageblock 4 without the allocated page, and the two freed pageblocks.
    let blocks = measures.free_at_end[0].blocks.iter().enumerate();
    let pages: u64 = blocks.map(|(order, types)| types.iter().sum::<u64>() << order).sum();
    assert_eq!(pages + measures.percpu_pages_at_end, 512 + 1 - 1 + 2);
    assert_eq!(measures.mixed.start, 0);
}

#[test]
fn a_highatomic_reserve_of_the_start_can_be_released() {
    let mut start = machine();
    let mut zone = PageTypeZone { name: "Normal".to_owned(), ..PageTypeZone::default() };
    zone.blocks[Migratetype::HighAtomic.index()] = PAGES / 512;
    zone.free[Migratetype::HighAtomic.index()][10] = FreeCount { blocks: PAGES / 1024, capped: false };
    start.pagetypeinfo = PageTypeInfo { pageblock_order: 9, zones: vec![zone], ..PageTypeInfo::default() };
    for era in [Era::Linux6_1, Era::Linux7_3] {
        let measures = replay(&start, &Script::default().alloc(0, 0), &era.into());
        assert_eq!(measures.failed(), 0, "all memory was in the reserve");
    }
}

#[test]
fn hugetlb_pages_are_blocks_in_use_and_their_pageblocks_keep_the_type() {
    let run = |start, pages, used_for| Run { start: Pfn(start), pages, used_for };
    let rest = PAGES - 1800;
    for (hugetlb, retyped) in [
        (FrameUse::Hugetlb, 0),
        // Frames without a free stay in use, as do those of an incomplete huge page: two pageblocks.
        (FrameUse::Offline, 2),
    ] {
        let occupancy =
            vec![run(0, 1024, hugetlb), run(1024, 776, FrameUse::Hugetlb), run(1800, rest, FrameUse::Free)];
        let start = Snapshot { occupancy, ..machine() };
        // The daemons wake up at every 64th event.
        let mut script = Script::default();
        for number in 0..100 {
            script = script.alloc(2048, 0).free(2048, 0).wait_ns(if number == 50 { 200_000_000 } else { 0 });
        }
        let measures = replay(&start, &script, &Era::Freehold.into());
        assert_eq!((measures.locked.retyped, measures.failed()), (retyped, 0), "{hugetlb:?}");
    }
}
