//! Scripts with single orders, and with larger orders after fragmentation.

use super::building::{Builder, LARGEST_ORDER, fill, thin_out};

/// Fills and frees memory with each order alone. Some rounds free only half.
pub(super) fn single(b: &mut Builder) {
    let first = b.rng.u8(..=LARGEST_ORDER);
    let orders = LARGEST_ORDER + 1;
    for at in 0..orders {
        let steps = b.left() / usize::from(orders - at) + 1;
        b.phase(steps, |b| one_order(b, (first + at) % orders));
        b.relieve(0);
    }
}

fn one_order(b: &mut Builder, order: u8) {
    let kind = b.kind();
    let gfp = b.request(kind);
    let most = ((b.share(110) >> order) as usize).clamp(1, b.left() / 2 + 1);
    while !b.done() {
        let count = b.rng.usize(1..=most);
        for _ in b.times(count) {
            b.hold(order, gfp);
        }
        let leaving = b.leaving();
        let back = if b.rng.bool() { count } else { count / 2 };
        b.free_in_use(b.times(back).len(), leaving);
        if b.pages_in_use() > b.share(110) {
            b.relieve(50);
        }
    }
}

/// Fills memory with small blocks, frees scattered ones, and requests larger blocks.
pub(super) fn fragmentation(b: &mut Builder) {
    let kind = b.kind();
    let gfp = b.request(kind);
    let percent = b.pick(&[40, 70, 95, 105]);
    let mut pool = fill(b, gfp, percent);
    thin_out(b, &mut pool);
    b.in_use.append(&mut pool);
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
