//! All contiguous ranges of a request, summed up.

use std::collections::BTreeMap;

use freehold_linux::pageblocks::PageblockMap;
use freehold_trace::ZoneSnapshot;
use serde::Serialize;

use super::evidence::Evidence;
use super::holders::{HolderKind, Named, named};
use super::ranges::{Range, RangeState, ranges};
use super::request::BlockRequest;
use super::supply::ZoneSupply;

/// The most ranges in a report.
const MOST: usize = 4096;

/// The contiguous ranges of one size in the requested zones.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct RangeMap {
    /// How many ranges there are in each state.
    pub counts: BTreeMap<RangeState, u64>,
    /// What holds ranges, first the kind that alone holds the most.
    pub holders: Vec<RangeHolder>,
    /// The ranges by ascending frames, at most 4096.
    pub list: Vec<Range>,
    /// Ranges that `list` leaves out.
    pub left_out: u64,
    /// What each zone can give.
    #[serde(skip)]
    supplies: Vec<ZoneSupply>,
}

/// A kind of unmovable pages, and the ranges that it holds.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct RangeHolder {
    /// The kind.
    pub kind: HolderKind,
    /// Its pages in unmovable ranges.
    pub pages: u64,
    /// Ranges with such pages.
    pub ranges: u64,
    /// Ranges that nothing else holds.
    pub ranges_alone: u64,
    /// The holders of this kind that the kernel names, largest first, with their pages on the whole machine.
    pub named: Vec<Named>,
}

impl RangeMap {
    /// Finds the ranges of the requested size.
    pub(super) fn new(evidence: &Evidence<'_>, map: &PageblockMap, request: &BlockRequest) -> Self {
        let mut list = ranges(evidence, map, request);
        let mut counts = BTreeMap::new();
        for range in &list {
            *counts.entry(range.state).or_default() += 1;
        }
        let supplies = evidence.zones.iter().map(|zone| supply(zone, &list)).collect();
        let holders = holders(evidence, &list);
        let left_out = list.len().saturating_sub(MOST) as u64;
        list.truncate(MOST);
        Self { counts, holders, list, left_out, supplies }
    }

    /// Returns how many ranges are in a state.
    pub fn count(&self, state: RangeState) -> u64 {
        self.counts.get(&state).copied().unwrap_or(0)
    }

    /// Returns the most ranges that can be had, if everything that may be free or moved is.
    pub fn at_most(&self) -> u64 {
        self.supplies.iter().filter_map(|zone| zone.compacted_at_most).sum()
    }

    /// Returns what a zone can give.
    pub(super) fn supply(&self, zone: &ZoneSnapshot) -> ZoneSupply {
        let found = self.supplies.iter().find(|found| found.node == zone.node && found.name == zone.name);
        found.cloned().unwrap_or_default()
    }
}

/// Counts the ranges of one zone.
///
/// No watermark is taken off: the kernel takes a range that is free or emptied as it is.
fn supply(zone: &ZoneSnapshot, list: &[Range]) -> ZoneSupply {
    let own: Vec<_> = list.iter().filter(|r| r.node == zone.node && r.zone == zone.name).collect();
    let count = |wanted: &dyn Fn(&Range) -> bool| own.iter().filter(|range| wanted(range)).count() as u64;
    let of = |states: &'static [RangeState]| count(&|range| states.contains(&range.state));
    let emptied_by_drop = |range: &Range| range.state == RangeState::Movable && range.movable == 0;
    let now = of(&[RangeState::Free]);
    let both = of(&[RangeState::Free, RangeState::Movable, RangeState::Reclaimable]);
    ZoneSupply {
        node: zone.node,
        name: zone.name.clone(),
        now,
        deferred: of(&[RangeState::NotSetUp]),
        compacted: Some(of(&[RangeState::Free, RangeState::Movable])),
        compacted_at_most: Some(both + of(&[RangeState::NoRoom]) + count(&|range| range.perhaps)),
        reclaimed: Some(now + count(&emptied_by_drop)),
        both: Some(both),
        both_at_most: None,
        gives_up_at_pfn: None,
        unusable: 0,
        reserved_pages: None,
        allowed: own.len() as u64,
        allowed_reclaimed: own.len() as u64,
        allowed_compacted: own.len() as u64,
        allowed_compacted_at_most: own.len() as u64,
        allowed_both: own.len() as u64,
        allowed_both_at_most: own.len() as u64,
    }
}

/// Returns what holds ranges, first the kind that alone holds the most.
fn holders(evidence: &Evidence<'_>, list: &[Range]) -> Vec<RangeHolder> {
    let mut sums: BTreeMap<HolderKind, [u64; 3]> = BTreeMap::new();
    for range in list.iter().filter(|range| range.state == RangeState::Unmovable) {
        for holder in &range.holders {
            let [pages, ranges, alone] = sums.entry(holder.kind).or_default();
            *pages += holder.pages;
            *ranges += 1;
            *alone += u64::from(range.holders.len() == 1);
        }
    }
    let holder = |(kind, [pages, ranges, ranges_alone]): (HolderKind, [u64; 3])| {
        let named = named(kind, evidence.names, &BTreeMap::new());
        RangeHolder { kind, pages, ranges, ranges_alone, named }
    };
    let mut holders: Vec<_> = sums.into_iter().map(holder).collect();
    holders.sort_by_key(|holder| std::cmp::Reverse((holder.ranges_alone, holder.ranges, holder.pages)));
    holders
}
