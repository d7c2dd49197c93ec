//! Orders by themselves, and orders after fragmentation.

use super::builder::{Builder, Leaving};
use super::{LARGEST_ORDER, PAGEBLOCK_PAGES};

/// Each order by itself: up, down, and up and down by halves.
pub(super) fn single(b: &mut Builder) {
    let first = b.rng.u8(..=LARGEST_ORDER);
    for order in (0..=LARGEST_ORDER).map(|at| (first + at) % (LARGEST_ORDER + 1)) {
        let steps = b.left() / usize::from(LARGEST_ORDER + 1 - order.min(LARGEST_ORDER)).max(3) + 16;
        b.phase(steps, |b| one_order(b, order));
        b.relieve(0);
    }
}

fn one_order(b: &mut Builder, order: u8) {
    let gfp = {
        let kind = b.kind();
        b.request(kind)
    };
    let most = ((b.share(110) >> order) as usize).clamp(1, b.left() / 2 + 1);
    while !b.done() {
        let count = b.rng.usize(1..=most);
        for _ in b.times(count) {
            b.hold(order, gfp);
        }
        let leaving = b.leaving();
        let back = if b.rng.bool() { count } else { count / 2 };
        b.free_held(b.times(back).len(), leaving);
        if b.held_pages() > b.share(110) {
            b.relieve(50);
        }
    }
}

/// Fills memory with small blocks, frees some at a distance, asks for larger ones.
pub(super) fn fragmentation(b: &mut Builder) {
    let kind = b.kind();
    let gfp = b.request(kind);
    let percent = b.pick(&[40, 70, 95, 105]);
    let order = b.rng.u8(0..6);
    let by_split = b.rng.bool();
    let steps = b.left() / 2 + 1;
    let mut pool = Vec::new();
    b.phase(steps, |b| {
        while b.held_pages() < b.share(percent) && !b.done() {
            if by_split {
                fill_by_split(b, gfp, &mut pool);
            } else {
                pool.extend(b.alloc(order, gfp));
            }
        }
    });
    thin_out(b, &mut pool);
    b.held.append(&mut pool);
    let kind = if b.rng.bool() { kind } else { b.kind() };
    for larger in (0..=LARGEST_ORDER).rev() {
        let count = b.rng.usize(1..40);
        for _ in b.times(count) {
            let gfp = b.request(kind);
            b.hold(larger, gfp);
        }
    }
    let aim = b.pick(&[0, 20, 60]);
    b.relieve(aim);
}

/// A large block, taken apart; some of the memory is asked for as large blocks that stay.
fn fill_by_split(b: &mut Builder, gfp: freehold::GfpFlags, pool: &mut Vec<u32>) {
    let order = b.rng.u8(1..=LARGEST_ORDER);
    match b.alloc_for_split(order, gfp) {
        Some(slot) => pool.extend(b.split(slot)),
        None => pool.extend(b.alloc(LARGEST_ORDER, gfp)),
    }
}

/// Frees blocks at a distance: every so many but one, or every so many.
pub(super) fn thin_out(b: &mut Builder, pool: &mut Vec<u32>) {
    let distance = b.pick(&[2, 2, 2, 3, 4, 8, 16, 64, PAGEBLOCK_PAGES as usize]);
    let keep_one = b.rng.bool();
    let mut going = Vec::with_capacity(pool.len());
    let mut at = 0;
    pool.retain(|&slot| {
        let goes = usize::is_multiple_of(at, distance) != keep_one;
        at += 1;
        going.extend(goes.then_some(slot));
        !goes
    });
    let leaving = b.pick(&[Leaving::Oldest, Leaving::Oldest, Leaving::Newest, Leaving::Random]);
    let count = b.times(going.len()).len();
    b.free_from(&mut going, count, leaving);
    pool.append(&mut going);
}
