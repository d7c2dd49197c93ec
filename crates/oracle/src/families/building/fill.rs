//! Fills memory to a level, and frees parts of it.

use freehold::GfpFlags;

use super::builder::{Builder, Leaving};
use super::zone::LARGEST_ORDER;

/// Requests more memory than is free: the largest blocks first, then smaller ones.
pub(in crate::families) fn exhaust(b: &mut Builder, gfp: GfpFlags) {
    let missing = b.share(108).saturating_sub(b.pages_in_use());
    let largest = if b.with_probability(80) { LARGEST_ORDER } else { b.rng.u8(4..=LARGEST_ORDER) };
    for _ in b.times((missing >> largest) as usize + 1) {
        b.hold(largest, gfp);
    }
    for order in (0..largest).rev() {
        let count = if order == 0 { b.rng.usize(100..900) } else { b.rng.usize(4..40) };
        for _ in b.times(count) {
            b.hold(order, gfp);
        }
    }
}

/// Fills memory to a level. Returns the small blocks, which were allocated or split from large blocks.
pub(in crate::families) fn fill(b: &mut Builder, gfp: GfpFlags, percent: u64) -> Vec<u32> {
    if b.with_probability(60) {
        return fill_by_split(b, gfp, percent, |b| {
            if b.rng.bool() { LARGEST_ORDER } else { b.rng.u8(1..=LARGEST_ORDER) }
        });
    }
    let order = b.pick(&[0, 0, 1, 2, 3, 5]);
    let mut pool = Vec::new();
    for _ in b.times(b.left() / 3 + 1) {
        if b.pages_in_use() >= b.share(percent) {
            break;
        }
        pool.extend(b.alloc(order, gfp));
    }
    fill_the_rest(b, gfp, percent);
    pool
}

/// Fills memory to a level with large blocks, and splits as many as the phase has steps for. Returns their pages.
pub(in crate::families) fn fill_by_split(
    b: &mut Builder,
    gfp: GfpFlags,
    percent: u64,
    order: impl Fn(&mut Builder) -> u8,
) -> Vec<u32> {
    let mut pool = Vec::new();
    while b.pages_in_use() < b.share(percent) && pool.len() < b.left() / 2 {
        let order = order(b);
        let Some(slot) = b.alloc_for_split(order, gfp) else { break };
        pool.extend(b.split(slot));
    }
    fill_the_rest(b, gfp, percent);
    pool
}

fn fill_the_rest(b: &mut Builder, gfp: GfpFlags, percent: u64) {
    while b.pages_in_use() < b.share(percent) && !b.done() {
        b.hold(LARGEST_ORDER, gfp);
    }
}

/// Frees scattered blocks: one of every group of a random size, or all but one.
pub(in crate::families) fn thin_out(b: &mut Builder, pool: &mut Vec<u32>) {
    let distance = b.pick(&[2, 2, 2, 3, 4, 8, 16, 64, 512]);
    let keep_one = b.rng.bool();
    let leaving = b.pick(&[Leaving::Oldest, Leaving::Oldest, Leaving::Newest, Leaving::Random]);
    free_where(b, pool, leaving, |at| usize::is_multiple_of(at, distance) != keep_one);
}

/// Frees the blocks of a pool at chosen positions.
pub(in crate::families) fn free_where(
    b: &mut Builder,
    pool: &mut Vec<u32>,
    leaving: Leaving,
    goes: impl Fn(usize) -> bool,
) {
    let mut going = Vec::with_capacity(pool.len());
    let mut at = 0;
    pool.retain(|&slot| {
        let leaves = goes(at);
        at += 1;
        going.extend(leaves.then_some(slot));
        !leaves
    });
    let count = b.times(going.len()).len();
    b.free_from(&mut going, count, leaving);
    pool.append(&mut going);
}

/// Marks `percent` of the blocks as movable by compaction.
pub(in crate::families) fn mark_some(b: &mut Builder, pool: &[u32], percent: u32) {
    for &slot in pool {
        if b.done() {
            break;
        }
        if b.with_probability(percent) {
            b.mark(slot, true);
        }
    }
}
