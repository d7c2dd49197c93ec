//! If a request would fail, the replay compacts and reclaims pages of the trace.

use crate::common::{PAGES, Script, machine, order, replay};
use freehold::{Era, GfpFlags, Pfn};
use freehold_lab::Measures;
use freehold_trace::{EventKind, Snapshot};

const CACHE: GfpFlags = GfpFlags::HIGHUSER_MOVABLE.union(GfpFlags::NORETRY);
/// Small, so that a zone has many pageblocks: asynchronous compaction scans few frames of each.
const PAGEBLOCK_ORDER: u8 = 5;
const PAGEBLOCK: u64 = 1 << PAGEBLOCK_ORDER;

fn alloc(script: Script, pfn: Option<u64>, size: u8, gfp: GfpFlags) -> Script {
    let (pfn, migratetype) = (pfn.map(Pfn), gfp.migratetype());
    script.push(EventKind::Alloc { pfn, order: order(size), migratetype, gfp })
}

/// The distance in the trace between two pages that are neighbours in the replay.
const APART: u64 = PAGES / 8;

/// Allocates all of memory in single pages. Neighbours in the replay are far apart in the trace. Then
/// frees the first pages of the trace.
fn scattered(gfp: GfpFlags, freed: u64) -> Script {
    let place = |number: u64| number % 8 * APART + number / 8;
    let full =
        (0..PAGES).fold(Script::default(), |script, number| alloc(script, Some(place(number)), 0, gfp));
    (0..freed).fold(full, |script, pfn| script.free(pfn, 0))
}

fn played(script: &Script, era: Era) -> Measures {
    let mut start = Snapshot { time_ns: 0, ..machine() };
    start.pagetypeinfo.pageblock_order = PAGEBLOCK_ORDER;
    let measures = replay(&start, script, &era.into());
    assert_eq!(measures.followed.refused, 0, "{}", era.name());
    assert_eq!(measures.followed.unknown_frees, 0, "{}", era.name());
    measures
}

fn free_pages(measures: &Measures) -> u64 {
    let blocks = measures.free_at_end[0].blocks.iter().enumerate();
    blocks.map(|(order, types)| types.iter().sum::<u64>() << order).sum()
}

#[test]
fn pages_are_moved_and_freed_at_their_new_places() {
    for era in Era::ALL {
        let script = scattered(GfpFlags::HIGHUSER_MOVABLE, 3 * APART)
            .alloc(0, PAGEBLOCK_ORDER)
            .free(0, PAGEBLOCK_ORDER);
        let script = (3 * APART..PAGES).fold(script, |script, pfn| script.free(pfn, 0));
        let measures = played(&script, era);
        assert_eq!(measures.failed(), 0, "{}", era.name());
        assert!(measures.events.compact_success >= 1, "{}: {:?}", era.name(), measures.events);
        assert!(measures.events.pgmigrate_success >= PAGEBLOCK / 2, "{}: {:?}", era.name(), measures.events);
        assert_eq!((free_pages(&measures), measures.followed.in_use_at_end), (PAGES, 0), "{}", era.name());
    }
}

#[test]
fn split_blocks_are_moved_piece_by_piece() {
    // Blocks of order 1. One page of each is freed, so that the other page is a piece of a block.
    let pairs = (0..PAGES / 2).fold(Script::default(), |script, number| script.alloc(2 * number, 1));
    let halves = (0..PAGES / 2).fold(pairs, |script, number| script.free(2 * number, 0));
    let moved = alloc(halves, None, PAGEBLOCK_ORDER, GfpFlags::HIGHUSER_MOVABLE);
    let script = (0..PAGES / 2).fold(moved, |script, number| script.free(2 * number + 1, 0));
    for era in Era::ALL {
        let measures = played(&script, era);
        assert!(measures.events.pgmigrate_success > 0, "{}", era.name());
        assert_eq!(measures.followed.answered_instead[usize::from(PAGEBLOCK_ORDER)], 1, "{}", era.name());
        assert_eq!((free_pages(&measures), measures.followed.in_use_at_end), (PAGES, 0), "{}", era.name());
    }
}

#[test]
fn page_cache_is_reclaimed_without_space_to_compact() {
    for era in Era::ALL {
        let script = scattered(CACHE, PAGEBLOCK).alloc(0, PAGEBLOCK_ORDER).free(0, PAGEBLOCK_ORDER);
        let script = (PAGEBLOCK..PAGES).fold(script, |script, pfn| script.free(pfn, 0));
        let measures = played(&script, era);
        assert_eq!(measures.failed(), 0, "{}", era.name());
        let events = measures.events;
        assert!(events.allocstall > 0 && events.pgsteal_direct >= PAGEBLOCK, "{}: {events:?}", era.name());
        assert_eq!(measures.followed.skipped_frees, events.pgsteal_direct, "{}", era.name());
        assert_eq!((free_pages(&measures), measures.followed.in_use_at_end), (PAGES, 0), "{}", era.name());
    }
}

#[test]
fn unmovable_pages_make_the_request_fail() {
    for era in Era::ALL {
        let measures = played(&scattered(GfpFlags::KERNEL, 3 * APART).alloc(0, PAGEBLOCK_ORDER), era);
        assert_eq!(measures.followed.failures[usize::from(PAGEBLOCK_ORDER)], 1, "{}", era.name());
        assert_eq!(measures.events.pgmigrate_success, 0, "{}", era.name());
    }
}

#[test]
fn requests_that_failed_on_the_machine_are_tried_with_their_own_flags() {
    for (gfp, answered) in [(GfpFlags::TRANSHUGE, 1), (GfpFlags::TRANSHUGE_LIGHT, 0)] {
        let script = alloc(scattered(GfpFlags::HIGHUSER_MOVABLE, 3 * APART), None, PAGEBLOCK_ORDER, gfp);
        let measures = played(&script, Era::Linux7_3);
        let followed = measures.followed;
        assert_eq!(
            (
                followed.machine_failures[usize::from(PAGEBLOCK_ORDER)],
                followed.answered_instead[usize::from(PAGEBLOCK_ORDER)]
            ),
            (1, answered),
            "{gfp:?}"
        );
        assert_eq!((followed.huge_pages, followed.huge_page_failures), (answered, 1 - answered), "{gfp:?}");
        assert_eq!(free_pages(&measures), 3 * APART, "{gfp:?}");
    }
}
