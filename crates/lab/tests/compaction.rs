//! Pages that compaction moves stay in use at an unknown place.

use crate::common::{PAGES, Script, machine, replay};
use freehold::Era;
use freehold_lab::Followed;
use freehold_trace::{EventKind, Snapshot};

/// The machine, its snapshot taken before all events.
fn start() -> Snapshot {
    Snapshot { time_ns: 0, ..machine() }
}

fn followed(script: &Script) -> (Followed, u64) {
    let measures = replay(&start(), script, &Era::Linux6_12.into());
    assert_eq!(measures.followed.refused, 0);
    let blocks = &measures.free_at_end[0].blocks;
    let free = blocks.iter().enumerate().map(|(order, types)| types.iter().sum::<u64>() << order).sum();
    (measures.followed, free)
}

fn compacting(script: Script) -> Script {
    script.push(EventKind::CompactionBegin)
}

fn compacted(script: Script) -> Script {
    script.push(EventKind::CompactionEnd)
}

#[test]
fn a_moved_page_stays_in_use_until_its_new_place_is_freed() {
    let moving = compacted(compacting(Script::default().alloc(16, 0)).free(16, 0));
    let (moved, free) = followed(&moving);
    assert_eq!((moved.moved_by_compaction, moved.in_use_at_end, free), (1, 1, PAGES - 1));
    let (freed, free) = followed(&moving.alloc(16, 0).free(99, 0));
    assert_eq!((freed.moved_then_freed, freed.unknown_frees, freed.double_allocs), (1, 0, 0));
    assert_eq!((freed.in_use_at_end, free), (1, PAGES - 1), "the page allocated at the old place stays");
}

#[test]
fn free_pages_that_compaction_isolates_and_frees_change_nothing() {
    let (followed, free) = followed(&compacted(compacting(Script::default().alloc(16, 0)).free(2000, 0)));
    assert_eq!((followed.returned_by_compaction, followed.moved_by_compaction), (1, 0));
    assert_eq!((followed.unknown_frees, free), (0, PAGES - 1));
}

#[test]
fn a_large_moved_block_can_be_freed_in_pieces() {
    let moving = compacted(compacting(Script::default().alloc(16, 2)).free(16, 2));
    let (followed, free) = followed(&moving.free(1000, 0).free(1002, 1));
    assert_eq!((followed.moved_then_freed, followed.unknown_frees), (2, 0));
    assert_eq!((followed.pages_in_use_at_end, free), (1, PAGES - 1));
}

#[test]
fn without_compaction_no_block_counts_as_moved() {
    let (followed, _) = followed(&Script::default().alloc(16, 0).free(16, 0).free(99, 0).free(99, 0));
    assert_eq!((followed.moved_then_freed, followed.moved_by_compaction), (0, 0));
    assert_eq!(followed.unknown_frees, 2);
}

#[test]
fn a_free_frame_freed_again_was_isolated_without_an_event() {
    let measures = replay(&start(), &Script::default().free(16, 0), &Era::Linux6_12.into());
    assert_eq!((measures.followed.unknown_frees, measures.followed.in_use_at_end), (1, 0));
}
