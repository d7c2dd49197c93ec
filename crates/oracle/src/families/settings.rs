//! Scripts with tunables, texts and bulk requests.

use super::building::Builder;
use super::churn::{Mix, churn};
use crate::script::{Op, Tunable};

/// Changes every tunable while blocks are allocated and freed.
pub(super) fn settings(b: &mut Builder) {
    let mix = Mix::any(b);
    let percent = b.pick(&[10, 50, 90, 100]);
    let steps = b.rng.usize(50..800);
    churn(b, &mix, percent, steps);
    set_any(b);
    if b.with_probability(60) {
        bulk(b);
    }
    if b.with_probability(15) {
        let text = b.pick(&[Op::PageTypeInfo, Op::BuddyInfo]);
        b.act(text);
    }
    if b.with_probability(10) {
        let active = b.rng.bool();
        b.act(Op::ReclaimActive(active));
    }
}

/// Sets one tunable to a value in its permitted range.
pub(super) fn set_any(b: &mut Builder) {
    let tunable = b.pick(&Tunable::ALL);
    let value = match tunable {
        Tunable::MinFreeKbytes => b.zone.memory_kib / b.pick(&[2000, 500, 120, 60, 30, 12]),
        Tunable::WatermarkScaleFactor => b.pick(&[1, 10, 10, 50, 200, 1000]),
        Tunable::WatermarkBoostFactor => b.pick(&[0, 15_000, 15_000, 40_000, 150_000]),
        Tunable::PercpuPagelistHighFraction => b.pick(&[0, 0, 8, 20, 100, 5000]),
    };
    b.set(tunable, value);
}

/// Allocates single pages in bulk, which may return fewer.
pub(super) fn bulk(b: &mut Builder) {
    let most = b.pick(&[2, 16, 64, 256, 512]);
    let pages = b.rng.u32(1..=most);
    let gfp = if b.with_probability(20) {
        b.rights()
    } else {
        let kind = b.kind();
        b.request(kind)
    };
    let slots = b.bulk(pages, gfp);
    b.in_use.extend(slots);
}
