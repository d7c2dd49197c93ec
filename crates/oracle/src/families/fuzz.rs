//! Scripts with all calls, and scripts of the other families in zones of odd sizes.

use super::building::{Builder, exhaust, mark_some};
use super::churn::{Mix, churn};
use super::{churn as mixed, orders, percpu, pressure, ranges, settings, types};
use crate::script::Op;

/// Writes phases, each with its own mix and fill level, with rare calls in between.
pub(super) fn fuzz(b: &mut Builder) {
    let mix = Mix::any(b);
    let percent = b.weighed(&[(2, 10), (3, 40), (4, 70), (4, 85), (3, 92), (2, 97), (1, 103)]);
    let steps = b.rng.usize(500..8000);
    let between = b.pick(&[10, 50, 200]);
    b.phase(steps, |b| {
        while !b.done() {
            let steps = b.rng.usize(1..=between);
            churn(b, &mix, percent, steps);
            rare(b, &mix, percent);
        }
    });
    if b.with_probability(8) {
        let text = b.pick(&[Op::PageTypeInfo, Op::BuddyInfo]);
        b.act(text);
    }
    if b.with_probability(25) {
        let aim = b.pick(&[0, 20, 60]);
        b.relieve(aim);
    }
}

/// Adds a rare call.
fn rare(b: &mut Builder, mix: &Mix, percent: u64) {
    let call = b.weighed(&[
        (20, split as Rare),
        (8, |b, _, _| settings::bulk(b)),
        (if b.may_mark { 15 } else { 0 }, mark),
        (12, |b, _, _| b.act(Op::Refresh)),
        (8, |b, _, _| b.act(Op::Drain)),
        (3, |b, _, _| b.act(Op::DrainAll)),
        (2, |b, _, _| settings::set_any(b)),
        (4, relax),
        (2, reclaim),
        (4, ranges::isolated_near),
        (if b.may_mark { 0 } else { 3 }, ranges::contiguous),
        (1, end),
    ]);
    call(b, mix, percent);
}

type Rare = fn(&mut Builder, &Mix, u64);

fn split(b: &mut Builder, mix: &Mix, _: u64) {
    let (_, gfp, _) = mix.request(b);
    let order = b.weighed(&[(60, 1), (40, 2), (30, 3), (10, 4), (6, 5), (2, 7), (1, 9), (1, 10)]);
    if let Some(slot) = b.alloc_for_split(order, gfp) {
        let pages = b.split(slot);
        b.in_use.extend(pages);
    }
}

/// Marks a few blocks, and unmarks a few.
fn mark(b: &mut Builder, _: &Mix, _: u64) {
    for _ in 0..4 {
        if b.in_use.is_empty() {
            return b.act(Op::Refresh);
        }
        let at = b.rng.usize(..b.in_use.len());
        let (slot, movable) = (b.in_use[at], b.with_probability(75));
        b.mark(slot, movable);
    }
}

fn relax(b: &mut Builder, _: &Mix, _: u64) {
    let pages = b.pick(&[1, 64, 512, 4000]);
    b.act(Op::RelaxBoost { pages });
}

fn reclaim(b: &mut Builder, _: &Mix, _: u64) {
    let active = b.with_probability(30);
    b.act(Op::ReclaimActive(active));
}

/// Exhausts memory with one kind of request, then frees some blocks.
fn end(b: &mut Builder, mix: &Mix, percent: u64) {
    let (_, gfp, _) = mix.request(b);
    exhaust(b, gfp);
    b.relieve(percent);
}

/// Writes a part of another family's script in a zone of an odd size.
pub(super) fn odd_zones(b: &mut Builder) {
    let stretch = b.pick::<fn(&mut Builder)>(&[
        mixed::mixed_orders,
        orders::fragmentation,
        pressure::exhaustion,
        types::type_pressure,
        types::refusals,
        percpu::percpu,
        ranges::ranges,
        settings::settings,
        fuzz,
    ]);
    let steps = b.rng.usize(300..6000);
    b.phase(steps, stretch);
    let in_use = b.in_use.clone();
    mark_some(b, &in_use[..in_use.len().min(50)], 10);
    let aim = b.pick(&[0, 20, 50]);
    b.relieve(aim);
}
