//! The upper bound over all placements, on traces where it can be counted by hand.

use crate::common::{PAGES, Script, machine};
use freehold::Pfn;
use freehold_lab::{Hindsight, HindsightBound, Lab, Trace};
use freehold_trace::{EventKind, FrameUse, Origin, Run, Snapshot};

/// The number of pageblocks of the small machine.
const PAGEBLOCKS: u64 = PAGES / 512;

fn hindsight(start: &Snapshot, script: &Script) -> Hindsight {
    let origin = Origin::default();
    let trace = Trace { origin: &origin, start, events: &script.into(), ending: None };
    Lab::new(trace).expect("a valid trace").hindsight()
}

/// The small machine with pages in use: the frame and use of each.
fn in_use(pages: &[(u64, FrameUse)]) -> Snapshot {
    let mut start = machine();
    let mut occupancy = Vec::new();
    let mut at = 0;
    for &(pfn, used_for) in pages {
        occupancy.push(Run { start: Pfn(at), pages: pfn - at, used_for: FrameUse::Free });
        occupancy.push(Run { start: Pfn(pfn), pages: 1, used_for });
        at = pfn + 1;
    }
    occupancy.push(Run { start: Pfn(at), pages: PAGES - at, used_for: FrameUse::Free });
    occupancy.retain(|run| run.pages > 0);
    start.occupancy = occupancy;
    start
}

#[test]
fn the_bound_packs_scattered_pages_into_one_pageblock() {
    let script = (0..PAGEBLOCKS).fold(Script::default(), |script, block| script.alloc(block * 512, 0));
    let end = hindsight(&machine(), &script).end;
    assert_eq!(end, HindsightBound { free_pageblocks: PAGEBLOCKS - 1, mixed_pageblocks: 0 });
}

#[test]
fn the_bound_places_new_pages_next_to_pages_from_the_start() {
    let start = in_use(&[(700, FrameUse::Slab)]);
    let fitting = (0..511).fold(Script::default(), |script, pfn| script.alloc(pfn, 0));
    assert_eq!(hindsight(&start, &fitting).end.free_pageblocks, PAGEBLOCKS - 1);
    let one_too_many = fitting.alloc(511, 0);
    assert_eq!(hindsight(&start, &one_too_many).end.free_pageblocks, PAGEBLOCKS - 2);
}

#[test]
fn a_huge_page_takes_a_pageblock_until_a_part_is_freed() {
    let start = in_use(&[(0, FrameUse::Slab)]);
    let whole = Script::default().alloc(512, 9);
    assert_eq!(hindsight(&start, &whole).end.free_pageblocks, PAGEBLOCKS - 2);
    // Its other 511 single pages fit next to the first page.
    let part = whole.free(512, 0);
    assert_eq!(hindsight(&start, &part).end.free_pageblocks, PAGEBLOCKS - 1);
}

#[test]
fn only_pages_from_the_start_make_a_pageblock_mixed() {
    let start = in_use(&[(0, FrameUse::Slab), (1, FrameUse::Movable), (512, FrameUse::Movable)]);
    let before = Script::default().alloc(2048, 0).free(2048, 0);
    assert_eq!(
        hindsight(&start, &before).end,
        HindsightBound { free_pageblocks: PAGEBLOCKS - 2, mixed_pageblocks: 1 }
    );
    let after = before.free(1, 0).free(512, 0);
    assert_eq!(
        hindsight(&start, &after).end,
        HindsightBound { free_pageblocks: PAGEBLOCKS - 1, mixed_pageblocks: 0 }
    );
}

#[test]
fn pages_that_compaction_moves_count_as_in_use() {
    let start = in_use(&[(0, FrameUse::Slab), (512, FrameUse::Movable)]);
    let moved =
        Script::default().push(EventKind::CompactionBegin).free(512, 0).push(EventKind::CompactionEnd);
    assert_eq!(hindsight(&start, &moved).end.free_pageblocks, PAGEBLOCKS - 1);
    // Too many moved pages to fit next to the first page.
    let many: Vec<_> = (0..512).map(|at| (512 + at, FrameUse::Movable)).collect();
    let start = in_use(&[&[(0, FrameUse::Slab)], many.as_slice()].concat());
    let moved = (512..1024)
        .fold(Script::default().push(EventKind::CompactionBegin), |script, pfn| script.free(pfn, 0));
    assert_eq!(hindsight(&start, &moved).end.free_pageblocks, PAGEBLOCKS - 2);
}
