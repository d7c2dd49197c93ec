//! Scripts with little free memory: access to reserves, the highatomic reserve, the boost.

use super::building::{Builder, Leaving, Rights, exhaust};
use super::churn::{Mix, churn};
use super::types;
use crate::script::{Op, Tunable};

/// Makes requests with every kind of access until nothing is left, frees, and repeats.
pub(super) fn exhaustion(b: &mut Builder) {
    let gfp = if b.with_probability(40) {
        let kind = b.kind();
        b.request(kind)
    } else {
        b.rights()
    };
    exhaust(b, gfp);
    let back = b.rng.usize(..40);
    b.free_in_use(b.times(back).len(), Leaving::Newest);
    let turns = b.rng.usize(50..600);
    for _ in b.times(turns) {
        if b.with_probability(45) {
            let leaving = b.leaving();
            b.free_in_use(1, leaving);
        } else {
            let gfp = b.rights();
            let order = b.pick(&[0, 0, 0, 0, 1, 2, 3, 5]);
            b.hold(order, gfp);
        }
    }
    let aim = b.pick(&[0, 30, 60, 90]);
    b.relieve(aim);
    if b.rng.bool() {
        b.act(Op::DrainAll);
    }
}

/// Makes atomic requests of more than a page when little memory is left, so that the kernel reserves pageblocks for
/// them. Then makes ordinary requests.
pub(super) fn high_atomic(b: &mut Builder) {
    if b.with_probability(30) {
        let part = b.pick(&[1000, 200, 60, 20]);
        b.set(Tunable::MinFreeKbytes, b.zone.memory_kib / part);
    }
    let kind = b.kind();
    let gfp = b.request(kind);
    exhaust(b, gfp);
    let rounds = b.rng.usize(3..30);
    for _ in 0..rounds {
        let back = b.rng.usize(..30);
        let leaving = b.leaving();
        b.free_in_use(b.times(back).len(), leaving);
        let atomic = b.pick(&[Rights::Atomic, Rights::Atomic, Rights::AtomicNoReserve, Rights::MemAlloc]);
        let gfp = atomic.gfp(b.kernel);
        let count = b.rng.usize(1..60);
        for _ in b.times(count) {
            let order = b.pick(&[1, 1, 2, 2, 3, 3, 4, 5, 7, 9, 0]);
            b.hold(order, gfp);
        }
        let mix = Mix::any(b);
        for _ in b.times(count / 2) {
            let (order, gfp, _) = mix.request(b);
            b.hold(order, gfp);
        }
        if b.with_probability(10) {
            b.act(Op::DrainAll);
        }
    }
    let aim = b.pick(&[0, 50, 85, 95]);
    b.relieve(aim);
}

/// Makes claims that raise the boost, requests that may ignore the boost, and lowers it as kswapd does.
pub(super) fn boost(b: &mut Builder) {
    let factor = b.pick(&[0, 1000, 15_000, 15_000, 150_000]);
    b.set(Tunable::WatermarkBoostFactor, factor);
    let steps = b.rng.usize(500..3000);
    b.phase(steps, types::type_pressure);
    let rounds = b.rng.usize(2..12);
    for _ in 0..rounds {
        let mix = Mix { special: 50, ..Mix::any(b) };
        let percent = b.pick(&[85, 92, 97, 100, 103]);
        let steps = b.rng.usize(20..300);
        churn(b, &mix, percent, steps);
        for _ in b.times(10) {
            b.hold(0, Rights::Atomic.gfp(b.kernel));
        }
        if b.with_probability(60) {
            let pages = b.pick(&[1, 16, 300, 512, 5000]);
            b.act(Op::RelaxBoost { pages });
        }
    }
}
