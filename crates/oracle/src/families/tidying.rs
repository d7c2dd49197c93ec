//! Scripts that fill pageblocks with pages of several kinds, and tidy the pageblocks.
//!
//! Blocks larger than a page are compound, so that the kernel can distinguish their pages from pages on CPUs' lists.

use freehold::GfpFlags;

use super::building::{Builder, Kind, Leaving, PAGEBLOCK_PAGES};
use crate::script::{Op, Place, Tunable};

/// The orders of requests, with weights. No order exceeds that of a pageblock, because Linux cannot isolate the
/// pageblocks of a compound block that spans several.
const ORDERS: [(u32, u8); 7] = [(900, 0), (60, 1), (40, 2), (30, 3), (9, 4), (4, 6), (3, 9)];

/// Fills memory with pages of several kinds, frees most of them, and tidies. Repeats that.
pub(super) fn tidying(b: &mut Builder) {
    let turns = b.rng.usize(4..30);
    for _ in 0..turns {
        if b.done() {
            break;
        }
        b.cpu = b.rng.u8(..2);
        let turn = b.weighed(&[
            (25, mix as fn(&mut Builder)),
            (30, pockets),
            (20, leave),
            (4, tune),
            (8, isolate),
            (6, drain),
        ]);
        turn(b);
        b.cpu = b.rng.u8(..2);
        if b.with_probability(70) {
            tidy(b);
        }
    }
    let aim = b.pick(&[0, 20, 50, 80]);
    b.relieve(aim);
    tidy(b);
}

/// Makes passes of tidying with small or large budgets.
fn tidy(b: &mut Builder) {
    let pages = b.pick(&[1, 30, 30, 200, 1000, 1_000_000, 1_000_000]);
    for _ in 0..b.rng.u8(1..=3) {
        b.act(Op::Tidy { pages });
    }
}

/// Allocates blocks of all kinds, one kind more often than the others, and frees some.
fn mix(b: &mut Builder) {
    let mostly = b.kind();
    let share = b.pick(&[40, 80, 97]);
    let percent = b.pick(&[20, 40, 60, 90, 102]);
    let aim = b.share(percent);
    let (pages_only, fixed) = (b.with_probability(70), fixed(b));
    let count = b.rng.usize(50..1200);
    for _ in 0..count {
        if b.done() {
            break;
        }
        if b.pages_in_use() > aim {
            let leaving = b.leaving();
            b.free_in_use(b.times(3).len(), leaving);
        }
        let kind = if b.with_probability(share) { mostly } else { b.kind() };
        let order = if pages_only { 0 } else { b.weighed(&ORDERS) };
        ask(b, kind, order, fixed);
    }
}

/// Fills pageblocks with single pages of one kind, and frees all but some of each. The rest is adjacent or scattered.
fn pockets(b: &mut Builder) {
    let kind = b.weighed(&[(6, Kind::Movable), (1, Kind::Unmovable), (1, Kind::Reclaimable)]);
    let (fixed, scattered) = (fixed(b), b.rng.bool());
    let mut pool = Vec::new();
    let blocks = b.rng.usize(1..6);
    let wanted = blocks * PAGEBLOCK_PAGES as usize;
    while pool.len() < wanted && !b.done() {
        pool.extend(page(b, kind, fixed));
    }
    let leaving = b.leaving();
    for block in pool.chunks(PAGEBLOCK_PAGES as usize) {
        let kept = b.pick(&[1, 5, 20, 40, 63, 64, 65, 100, 128, 200, 300, 440, 450]);
        let mut going = block.to_vec();
        b.rng.shuffle(&mut going[..if scattered { block.len() } else { 0 }]);
        b.in_use.extend(going.drain(..kept.min(block.len())));
        let count = b.times(going.len()).len();
        b.free_from(&mut going, count, leaving);
        b.in_use.append(&mut going);
    }
}

/// Frees a share of the blocks in use.
fn leave(b: &mut Builder) {
    let leaving = b.pick(&[Leaving::Random, Leaving::Random, Leaving::Oldest, Leaving::Newest]);
    let percent = b.pick(&[15, 40, 60, 85]);
    let count = b.in_use.len() * percent / 100;
    b.free_in_use(b.times(count).len(), leaving);
}

/// Changes the watermarks. Below them tidying moves nothing.
fn tune(b: &mut Builder) {
    let kib = b.zone.pages() * 4;
    let value = b.pick(&[kib / 200, kib / 200, kib / 40, kib / 8]);
    b.set(Tunable::MinFreeKbytes, value);
}

/// Tidies while pageblocks are isolated.
fn isolate(b: &mut Builder) {
    let blocks = b.rng.u8(1..4);
    let from = Place::InZone(b.rng.u32(..b.zone.end_of_usable_blocks()));
    b.act(Op::Isolate { blocks, from });
    tidy(b);
    b.act(Op::UndoIsolate { blocks, from });
}

fn drain(b: &mut Builder) {
    let op = b.pick(&[Op::Drain, Op::DrainAll, Op::Refresh]);
    b.act(op);
}

/// Returns how many of 10 000 movable pages fail to move. One such page keeps its pageblock from being emptied.
fn fixed(b: &mut Builder) -> u32 {
    b.pick(&[0, 0, 0, 0, 0, 3, 30, 1000])
}

/// Allocates a block. No block larger than a page can be moved, but some are marked as if they could.
fn ask(b: &mut Builder, kind: Kind, order: u8, fixed: u32) {
    if order == 0 || (kind == Kind::Movable && fixed == 0) {
        let slot = page(b, kind, fixed);
        b.in_use.extend(slot);
        return;
    }
    let gfp = b.request(kind) | GfpFlags::COMP;
    let Some(slot) = b.alloc(order, gfp) else { return };
    if b.with_probability(if kind == Kind::Movable { 50 } else { 2 }) {
        b.mark(slot, true);
    }
    b.in_use.push(slot);
}

/// Allocates a page. `fixed` of 10 000 movable pages fail to move. 20 of 10 000 other pages can be moved.
fn page(b: &mut Builder, kind: Kind, fixed: u32) -> Option<u32> {
    let gfp = b.request(kind);
    let slot = b.alloc(0, gfp)?;
    let moves = if kind == Kind::Movable { 10_000 - fixed } else { 20 };
    if b.rng.u32(..10_000) < moves {
        b.mark(slot, true);
    } else if b.with_probability(if kind == Kind::Movable { 50 } else { 1 }) {
        b.pin(slot);
    }
    Some(slot)
}
