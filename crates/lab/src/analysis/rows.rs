//! Kinds of requests, summed up by order, by type and order, and by who asks.

use std::collections::BTreeMap;

use freehold::{MAX_ORDERS, Migratetype, Order};
use serde::Serialize;

use super::gfp_class;
use super::histogram::{Histogram, OCTAVES};
use super::requests::RequestKind;

/// Requests and frees of one order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct OrderUse {
    /// Requests answered.
    pub allocs: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Frees, those of compaction left out.
    pub frees: u64,
    /// Pages allocated.
    pub pages: u64,
}

/// What became of pages: every page allocated is one of these.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Fate {
    /// Pages allocated.
    pub pages: u64,
    /// Freed: only these have a lifetime.
    pub freed: u64,
    /// Moved by compaction.
    pub moved: u64,
    /// Allocated anew while they were held: their frees were lost.
    pub displaced: u64,
    /// Held at the end.
    pub alive: u64,
    /// A time that half of the freed pages did not outlive, in nanoseconds; up to an eighth too long.
    pub median_ns: Option<u64>,
    /// The same of 99 % of the freed pages.
    pub p99_ns: Option<u64>,
}

/// How long the pages of one order and type live.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Lifetimes {
    /// The type that was asked for, as `/proc/pagetypeinfo` names it.
    pub migratetype: &'static str,
    /// The order that was asked for.
    pub order: u8,
    /// What became of the pages.
    pub fate: Fate,
    /// Freed pages by octave of their lifetime: place 0 is 0 ns, place `n` from `2^(n-1)` up to below
    /// `2^n` ns; places behind the last page are left out.
    pub octaves: Vec<u64>,
}

/// Requests with flags of one class.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct GfpClass {
    /// The flags as Linux prints them.
    pub name: String,
    /// Requests answered.
    pub allocs: u64,
    /// Requests that failed.
    pub failed: u64,
    /// What became of the pages.
    pub fate: Fate,
    /// Pages freed on another CPU than allocated.
    pub freed_elsewhere: u64,
}

/// Sums of several kinds of requests.
#[derive(Default)]
struct Sum {
    allocs: u64,
    failed: u64,
    freed_elsewhere: u64,
    fate: Fate,
    lifetimes: Histogram,
}

impl Sum {
    fn add(&mut self, kind: &RequestKind) {
        self.allocs += kind.allocs;
        self.failed += kind.failed;
        self.freed_elsewhere += kind.freed_elsewhere;
        self.fate.pages += kind.allocs << kind.order.get();
        self.fate.moved += kind.moved;
        self.fate.displaced += kind.displaced;
        self.fate.alive += kind.alive;
        self.lifetimes.merge(&kind.lifetimes);
    }

    fn fate(&self) -> Fate {
        Fate {
            freed: self.lifetimes.pages(),
            median_ns: self.lifetimes.percentile(50),
            p99_ns: self.lifetimes.percentile(99),
            ..self.fate
        }
    }
}

/// One row an order.
pub(super) fn orders(kinds: &[RequestKind], frees: &[u64; MAX_ORDERS]) -> Vec<OrderUse> {
    let mut orders = [OrderUse::default(); MAX_ORDERS];
    for kind in kinds {
        let order = &mut orders[kind.order.index()];
        order.allocs += kind.allocs;
        order.failed += kind.failed;
        order.pages += kind.allocs << kind.order.get();
    }
    for (order, &frees) in orders.iter_mut().zip(frees) {
        order.frees = frees;
    }
    orders.to_vec()
}

/// One row a type and order that was asked for.
pub(super) fn lifetimes(kinds: &[RequestKind]) -> Vec<Lifetimes> {
    let mut sums: BTreeMap<(Migratetype, Order), Sum> = BTreeMap::new();
    for kind in kinds.iter().filter(|kind| kind.allocs > 0) {
        sums.entry((kind.migratetype, kind.order)).or_default().add(kind);
    }
    let rows = sums.into_iter().map(|((migratetype, order), sum)| Lifetimes {
        migratetype: migratetype.name(),
        order: order.get(),
        fate: sum.fate(),
        octaves: trimmed(&sum.lifetimes.octaves()),
    });
    rows.collect()
}

/// One row a class, most pages first.
pub(super) fn classes(kinds: &[RequestKind]) -> Vec<GfpClass> {
    let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
    for kind in kinds {
        sums.entry(gfp_class::name(kind.gfp)).or_default().add(kind);
    }
    let rows = sums.into_iter().map(|(name, sum)| GfpClass {
        name,
        allocs: sum.allocs,
        failed: sum.failed,
        fate: sum.fate(),
        freed_elsewhere: sum.freed_elsewhere,
    });
    let mut rows: Vec<_> = rows.collect();
    rows.sort_by(|a, b| b.fate.pages.cmp(&a.fate.pages).then_with(|| a.name.cmp(&b.name)));
    rows
}

fn trimmed(octaves: &[u64; OCTAVES]) -> Vec<u64> {
    let used = octaves.iter().rposition(|&pages| pages > 0).map_or(0, |last| last + 1);
    octaves[..used].to_vec()
}
