//! Sums over kinds of requests: by order, by type and order, and by class of flags.

use std::collections::BTreeMap;

use freehold::{Migratetype, Order};
use serde::Serialize;

use super::gfp_class;
use super::histogram::{Histogram, OCTAVES};
use super::requests::RequestKind;
use crate::counts::CountsByOrder;

/// Requests and frees of one order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct OrderUse {
    /// Successful requests.
    pub allocs: u64,
    /// Failed requests.
    pub failed: u64,
    /// Frees, without frees by compaction.
    pub frees: u64,
    /// Pages allocated.
    pub pages: u64,
}

/// The fate of pages: each allocated page is freed, moved, displaced or alive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct PageFate {
    /// Pages allocated.
    pub pages: u64,
    /// Pages freed. Only freed pages have a lifetime.
    pub freed: u64,
    /// Pages that compaction moved.
    pub moved: u64,
    /// Pages allocated again while in use: their free events were lost.
    pub displaced: u64,
    /// Pages in use at the end.
    pub alive: u64,
    /// Median lifetime of the freed pages in nanoseconds, at most an eighth above the exact value.
    pub median_ns: Option<u64>,
    /// 99th percentile of the lifetimes in nanoseconds, at most an eighth above the exact value.
    pub p99_ns: Option<u64>,
}

/// Lifetimes of the pages of one order and type.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Lifetimes {
    /// The type of the requests, as `/proc/pagetypeinfo` names it.
    pub migratetype: &'static str,
    /// The order of the requests.
    pub order: u8,
    /// The fate of the pages.
    pub fate: PageFate,
    /// Freed pages by octave of their lifetime: index 0 is 0 ns, index `n` is from `2^(n-1)` up to below `2^n` ns.
    /// Without empty octaves at the end.
    pub octaves: Vec<u64>,
}

/// Requests with flags of one class.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct GfpClass {
    /// The flags as Linux prints them.
    pub name: String,
    /// Successful requests.
    pub allocs: u64,
    /// Failed requests.
    pub failed: u64,
    /// The fate of the pages.
    pub fate: PageFate,
    /// Pages freed on another CPU than the one that allocated them.
    pub freed_elsewhere: u64,
}

/// Sums of several kinds of requests.
#[derive(Default)]
struct Sum {
    allocs: u64,
    failed: u64,
    freed_elsewhere: u64,
    fate: PageFate,
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

    fn fate(&self) -> PageFate {
        PageFate {
            freed: self.lifetimes.pages(),
            median_ns: self.lifetimes.percentile(50),
            p99_ns: self.lifetimes.percentile(99),
            ..self.fate
        }
    }
}

/// Returns a row for each order.
pub(super) fn orders(kinds: &[RequestKind], frees: &CountsByOrder) -> Vec<OrderUse> {
    let requested = kinds.iter().map(|kind| kind.order.index() + 1).max().unwrap_or(0);
    let mut orders = vec![OrderUse::default(); frees.len().max(requested)];
    for kind in kinds {
        let order = &mut orders[kind.order.index()];
        order.allocs += kind.allocs;
        order.failed += kind.failed;
        order.pages += kind.allocs << kind.order.get();
    }
    for (order, &frees) in orders.iter_mut().zip(frees) {
        order.frees = frees;
    }
    orders
}

/// Returns a row for each requested type and order.
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

/// Returns a row for each class, most pages first.
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
