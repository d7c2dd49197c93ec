//! Scripts that fill and drain per-CPU lists to their limits.

use super::building::{Builder, Leaving, Rights};
use super::churn::{Mix, PERCPU_ORDERS, churn};
use crate::script::{Op, Tunable};

/// Writes runs that grow the batches, fill the lists, and drain them.
pub(super) fn percpu(b: &mut Builder) {
    let turn = b.weighed(&[
        (25, long_runs as fn(&mut Builder)),
        (20, saw),
        (15, settings),
        (25, emptied),
        (10, near_the_end),
        (6, high_orders),
    ]);
    turn(b);
    if b.pages_in_use() > b.share(90) {
        b.relieve(40);
    }
}

/// Alternates between two CPUs in a fixed order. A block may be freed on another CPU than the one that allocated it.
pub(super) fn two_cpus(b: &mut Builder) {
    let steps = b.rng.usize(500..4000);
    let mix = Mix::any(b);
    let percent = b.pick(&[20, 60, 95, 103]);
    let longest = b.pick(&[2, 20, 300]);
    b.phase(steps, |b| {
        while !b.done() {
            b.cpu = b.rng.u8(..2);
            let steps = b.rng.usize(1..=longest);
            if b.with_probability(90) {
                churn(b, &mix, percent, steps);
            } else {
                b.phase(steps * 4, percpu);
            }
        }
    });
    if b.with_probability(30) {
        b.relieve(20);
    }
}

/// Allocates many blocks of one order, then frees as many.
fn long_runs(b: &mut Builder) {
    let order = b.weighed(&PERCPU_ORDERS);
    let kind = b.kind();
    let gfp = b.request(kind);
    let most = ((b.share(60) >> order) as usize).min(b.pick(&[300, 1500, 5000]));
    let count = b.rng.usize(most / 20..=most);
    for _ in b.times(count) {
        b.hold(order, gfp);
    }
    let leaving = b.pick(&[Leaving::Newest, Leaving::Oldest, Leaving::Random]);
    let back = b.pick(&[count, count / 2, count + count / 2]);
    b.free_in_use(b.times(back).len(), leaving);
}

/// Allocates a few blocks and frees a few, many times.
fn saw(b: &mut Builder) {
    let kind = b.kind();
    let gfp = b.request(kind);
    let height = b.pick(&[1, 2, 7, 31, 63, 64, 130, 400]);
    let order = b.pick(&[0, 0, 0, 1, 2, 3]);
    let teeth = b.rng.usize(3..30);
    for _ in 0..teeth {
        let up = b.rng.usize(..=height);
        for _ in b.times(up) {
            b.hold(order, gfp);
        }
        let down = b.rng.usize(..=height);
        b.free_in_use(b.times(down).len(), Leaving::Newest);
    }
    // A turn must write at least one step, or the loop does not end.
    b.act(Op::Refresh);
}

fn settings(b: &mut Builder) {
    if b.rng.bool() {
        let value = b.pick(&[0, 8, 8, 16, 100, 1000, 100_000]);
        b.set(Tunable::PercpuPagelistHighFraction, value);
    } else {
        let active = b.rng.bool();
        b.act(Op::ReclaimActive(active));
    }
}

fn emptied(b: &mut Builder) {
    let op = b.pick(&[Op::Drain, Op::DrainAll, Op::Refresh, Op::Refresh, Op::Refresh]);
    let count = if op == Op::Refresh { b.rng.usize(1..12) } else { 1 };
    for _ in 0..count {
        b.act(op);
    }
}

/// Leaves so little free memory that the kernel keeps the lists short.
fn near_the_end(b: &mut Builder) {
    let mix = Mix { orders: &PERCPU_ORDERS, ..Mix::any(b) };
    while b.pages_in_use() < b.share(92) && !b.done() {
        let (_, gfp, _) = mix.request(b);
        b.hold(9, gfp);
    }
    let percent = b.pick(&[95, 98, 101, 104]);
    let steps = b.rng.usize(200..2000);
    churn(b, &mix, percent, steps);
}

/// Frees blocks of more than one page, which flush the lists.
fn high_orders(b: &mut Builder) {
    let order = b.pick(&[1, 2, 3, 3, 4, 9]);
    let kind = b.kind();
    let gfp = if b.with_probability(20) { Rights::Atomic.gfp(b.kernel) } else { b.request(kind) };
    let count = b.rng.usize(4..(b.share(50) >> order).clamp(5, 600) as usize);
    for _ in b.times(count) {
        b.hold(order, gfp);
    }
    b.free_in_use(b.times(count).len(), Leaving::Newest);
    for _ in b.times(count) {
        b.hold(0, gfp);
    }
}
