//! Scripts with isolated pageblocks and contiguous ranges.

use super::building::{Builder, Kind, LARGEST_ORDER, PAGEBLOCK_PAGES, mark_some};
use super::churn::{Mix, churn};
use crate::script::{Op, Place};

/// Fills memory, then isolates and allocates ranges while other blocks are allocated and freed.
pub(super) fn ranges(b: &mut Builder) {
    let percent = b.pick(&[3, 10, 30, 60, 85]);
    let mix = if b.cma_blocks > 0 && b.rng.bool() { movable_mix(b) } else { Mix::any(b) };
    let steps = b.rng.usize(100..800);
    churn(b, &mix, percent, steps);
    if b.with_probability(40) {
        let in_use = b.in_use.clone();
        mark_some(b, &in_use[..in_use.len().min(200)], 30);
    }
    let rounds = b.rng.usize(4..40);
    for _ in 0..rounds {
        if b.done() {
            break;
        }
        let round = b.weighed(&[
            (4, isolated as fn(&mut Builder, &Mix, u64)),
            (2, isolated_near),
            (if b.may_mark { 0 } else { 8 }, contiguous),
            (1, straddling),
        ]);
        round(b, &mix, percent);
    }
    b.relieve(percent / 2);
}

fn movable_mix(b: &mut Builder) -> Mix {
    let kinds = [(1, Kind::Unmovable), (14, Kind::Movable), (1, Kind::Reclaimable)];
    Mix { kinds, special: 0, ..Mix::any(b) }
}

/// Returns a few pageblocks anywhere in the zone, sometimes beyond its end.
fn some_blocks(b: &mut Builder) -> (u8, Place) {
    let blocks = b.rng.u8(1..=4);
    let last =
        if b.with_probability(3) { b.zone.pageblocks() } else { b.zone.pageblocks() - u32::from(blocks) };
    (blocks, Place::InZone(b.rng.u32(..=last)))
}

/// Isolates ranges while blocks are allocated and freed, then ends the isolation.
fn isolated(b: &mut Builder, mix: &Mix, percent: u64) {
    let mut open = Vec::new();
    let count = b.rng.usize(1..=4);
    for _ in 0..count {
        let (blocks, from) = some_blocks(b);
        b.act(Op::Isolate { blocks, from });
        open.push((blocks, from));
        if b.with_probability(20) {
            b.act(Op::DrainAll);
        }
        let steps = b.rng.usize(..150);
        churn(b, mix, percent, steps);
    }
    b.rng.shuffle(&mut open);
    for (blocks, from) in open {
        if b.with_probability(25) {
            // The isolation of a part of the range ends first.
            b.act(Op::UndoIsolate { blocks: 1, from });
        }
        b.act(Op::UndoIsolate { blocks, from });
        let steps = b.rng.usize(..40);
        churn(b, mix, percent, steps);
    }
}

/// Isolates the pageblock of an allocated block, and pageblocks behind it.
pub(super) fn isolated_near(b: &mut Builder, mix: &Mix, percent: u64) {
    let order = b.rng.u8(..=LARGEST_ORDER);
    let kind = b.kind();
    let gfp = b.request(kind);
    let Some(slot) = b.alloc(order, gfp) else { return };
    if kind == Kind::Movable {
        b.mark(slot, true);
    }
    let blocks = b.rng.u8(1..=3);
    let from = Place::AtSlot(b.rng.u32(..2));
    b.at(slot, Op::Isolate { blocks, from });
    let steps = b.rng.usize(..100);
    churn(b, mix, percent, steps);
    b.at(slot, Op::UndoIsolate { blocks, from });
    b.in_use.push(slot);
}

/// Allocates ranges of all lengths, aligned and unaligned, partly in use, and frees them later.
pub(super) fn contiguous(b: &mut Builder, mix: &Mix, percent: u64) {
    let count = b.rng.usize(1..12);
    for _ in 0..count {
        let lengths: &[u32] = if b.with_probability(60) {
            &[1, 2, 5, 16, 33, 100, 130]
        } else {
            &[256, 511, 512, 512, 513, 700, 1024, 1100, 1536, 2047]
        };
        // All pages of the range must be freed again within the phase.
        let pages = b.pick(lengths).min(b.left() as u32 + 1);
        let cma_pages = b.cma_blocks * PAGEBLOCK_PAGES as u32;
        let taken = if cma_pages > pages && b.rng.bool() {
            let first = b.zone.end_of_usable_blocks() * PAGEBLOCK_PAGES as u32 - cma_pages;
            let from = first + offset(b, cma_pages - pages);
            b.contig(pages, from, true)
        } else if b.with_probability(30) {
            let kind = b.kind();
            let gfp = b.request(kind);
            let from = b.pick(&[512, 512, 512, 600, 1024, 1, 100]);
            b.contig_near(gfp, pages, from)
        } else {
            let from = offset(b, b.zone.pages() as u32 - pages);
            b.contig(pages, from, false)
        };
        // Most of a range is freed at once, because the allocation may have failed.
        let mut pool: Vec<u32> = taken.collect();
        let keep = if b.rng.bool() { 0 } else { b.rng.usize(..=pool.len().min(100)) };
        let leaving = b.leaving();
        let back = pool.len() - keep.min(pool.len());
        b.free_from(&mut pool, back, leaving);
        b.in_use.append(&mut pool);
        let steps = b.rng.usize(..60);
        churn(b, mix, percent, steps);
    }
}

/// Returns the start of a range: anywhere, at the start of a pageblock, or at the start of a small block.
fn offset(b: &mut Builder, most: u32) -> u32 {
    let align = b.pick(&[1, 1, 8, 64, 512, 512, 1024]);
    b.rng.u32(..=most) / align * align
}

/// Isolates one of the two pageblocks that a block covers.
fn straddling(b: &mut Builder, mix: &Mix, percent: u64) {
    let kind = b.kind();
    let gfp = b.request(kind);
    let count = b.rng.usize(1..6);
    let slots: Vec<u32> = (0..count).filter_map(|_| b.alloc(LARGEST_ORDER, gfp)).collect();
    let Some((&first, rest)) = slots.split_first() else { return };
    if kind == Kind::Movable && b.rng.bool() {
        b.mark(first, true);
    }
    let from = Place::AtSlot(b.rng.u32(..2));
    b.at(first, Op::Isolate { blocks: 1, from });
    for &slot in rest {
        b.free(slot);
    }
    let second = b.rng.u32(..b.zone.pageblocks() - 1) | 1;
    b.act(Op::Isolate { blocks: 1, from: Place::InZone(second) });
    let steps = b.rng.usize(..60);
    churn(b, mix, percent, steps);
    b.act(Op::UndoIsolate { blocks: 1, from: Place::InZone(second) });
    b.at(first, Op::UndoIsolate { blocks: 1, from });
    b.free(first);
}
