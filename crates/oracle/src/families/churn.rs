//! Scripts that allocate and free at a constant fill level.

use freehold::GfpFlags;

use super::building::{Builder, Kind};

/// Orders weighted by their frequency on real machines.
pub(super) const USUAL_ORDERS: [(u32, u8); 11] =
    [(600, 0), (120, 1), (80, 2), (80, 3), (24, 4), (12, 5), (8, 6), (5, 7), (3, 8), (4, 9), (1, 10)];

/// All orders with the same weight.
pub(super) const ALL_ORDERS: [(u32, u8); 11] =
    [(1, 0), (1, 1), (1, 2), (1, 3), (1, 4), (1, 5), (1, 6), (1, 7), (1, 8), (1, 9), (1, 10)];

/// Only single pages.
pub(super) const PAGES: [(u32, u8); 1] = [(1, 0)];

/// The orders with per-CPU lists.
pub(super) const PERCPU_ORDERS: [(u32, u8); 5] = [(8, 0), (4, 1), (3, 2), (4, 3), (1, 9)];

/// The mix of requests.
#[derive(Clone, Copy)]
pub(super) struct Mix {
    pub(super) orders: &'static [(u32, u8)],
    /// Weights of the kinds.
    pub(super) kinds: [(u32, Kind); 3],
    /// The percentage of requests with special access to reserves.
    pub(super) special: u32,
}

impl Mix {
    /// Returns one of the usual mixes.
    pub(super) fn any(b: &mut Builder) -> Self {
        let orders: &[&[(u32, u8)]] = &[&USUAL_ORDERS, &USUAL_ORDERS, &ALL_ORDERS, &PAGES, &PERCPU_ORDERS];
        let weight = |b: &mut Builder| b.rng.u32(1..=8);
        let kinds = Kind::ALL.map(|kind| (weight(b), kind));
        let special = b.pick(&[0, 0, 2, 20]);
        Self { orders: b.pick(orders), kinds, special }
    }

    pub(super) fn request(&self, b: &mut Builder) -> (u8, GfpFlags, Kind) {
        let order = b.weighed(self.orders);
        let kind = b.weighed(&self.kinds);
        let gfp =
            if self.special > 0 && b.with_probability(self.special) { b.rights() } else { b.request(kind) };
        (order, gfp, kind)
    }
}

/// Allocates and frees in runs, so that `percent` of the zone is in use on average.
pub(super) fn churn(b: &mut Builder, mix: &Mix, percent: u64, steps: usize) {
    let aim = b.share(percent);
    let longest = b.pick(&[1, 4, 30, 200]);
    b.phase(steps, |b| {
        while !b.done() {
            let run = b.rng.usize(1..=longest);
            let below = b.pages_in_use() < aim;
            if b.with_probability(if below { 75 } else { 25 }) || b.in_use.is_empty() {
                for _ in b.times(run) {
                    let (order, gfp, _) = mix.request(b);
                    b.hold(order, gfp);
                }
            } else {
                let leaving = b.leaving();
                b.free_in_use(b.times(run).len(), leaving);
            }
            // Without free slots this loop would add no step, and never end.
            if b.pages_in_use() > b.zone.pages() * 2 {
                b.relieve(100);
            }
        }
    });
}

/// Allocates and frees with random mixes at several fill levels.
pub(super) fn mixed_orders(b: &mut Builder) {
    let mix = Mix::any(b);
    let percent = b.pick(&[5, 25, 50, 75, 90, 97, 105]);
    let steps = b.rng.usize(200..4000);
    churn(b, &mix, percent, steps);
    if b.with_probability(20) {
        b.relieve(30);
    }
}
