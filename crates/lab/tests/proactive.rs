//! Proactive compaction in a replay continues while it helps, as in Linux.

use crate::common::{PAGES, Script, machine, order, replay};
use freehold::{Era, GfpFlags, Pfn};
use freehold_trace::{EventKind, Snapshot};

/// Small, so that a zone has many pageblocks.
const PAGEBLOCK_ORDER: u8 = 5;
/// The number of movable pages.
const MOVABLE: u64 = 192;
const SECOND_NS: u64 = 1_000_000_000;

/// Adds allocations of single pages at these frames of the trace.
fn filled(script: Script, frames: std::ops::Range<u64>, gfp: GfpFlags) -> Script {
    frames.fold(script, |script, pfn| {
        let (pfn, order) = (Some(Pfn(pfn)), order(0));
        script.push(EventKind::Alloc { pfn, order, migratetype: gfp.migratetype(), gfp })
    })
}

/// Half of memory is free, without a free pageblock. A few pages can be moved together. After that, memory is still
/// fragmented, but less than before.
fn fragmented() -> Script {
    let kernel = filled(Script::default(), 0..PAGES - MOVABLE, GfpFlags::KERNEL);
    let full = filled(kernel, PAGES - MOVABLE..PAGES, GfpFlags::HIGHUSER_MOVABLE);
    (0..PAGES).step_by(2).fold(full, |script, pfn| script.free(pfn, 0))
}

/// Allocates the blocks that became free, and frees scattered pages, so that memory is fragmented again.
fn fragmented_again(script: Script) -> Script {
    let again = PAGES - MOVABLE..PAGES;
    let taken = again.clone().step_by(2).fold(script, |script, pfn| script.alloc(pfn, 0));
    again.step_by(4).fold(taken, |script, pfn| script.free(pfn, 0).free(pfn + 1, 0))
}

/// Adds seconds with one event in each.
fn seconds(script: Script, seconds: u64) -> Script {
    (0..seconds).fold(script, |script, _| script.wait_ns(SECOND_NS).push(EventKind::Lost { count: 0 }))
}

fn moved(script: &Script) -> u64 {
    let mut start = Snapshot { time_ns: 0, ..machine() };
    start.pagetypeinfo.pageblock_order = PAGEBLOCK_ORDER;
    replay(&start, script, &Era::Linux7_3.into()).events.pgmigrate_success
}

#[test]
fn a_successful_round_is_followed_by_the_next() {
    let first = moved(&seconds(fragmented(), 1));
    assert!(first > 0, "the first round");
    let second = moved(&seconds(fragmented_again(seconds(fragmented(), 1)), 1));
    assert!(second > first, "{first} pages moved, then {second} in all");
}

#[test]
fn a_round_without_success_is_followed_by_a_pause() {
    // The first round left no work for the second.
    let twice = seconds(fragmented(), 3);
    let first = moved(&twice);
    let soon = seconds(fragmented_again(twice), 20);
    assert_eq!(moved(&soon), first);
    assert!(moved(&seconds(soon, 20)) > first);
}
