//! Contiguous ranges that are larger than the buddy allocator's largest block.
//!
//! The kernel tries every aligned range of a zone, the highest zone first. It gives a range up if a page
//! there is absent, reserved, or cannot be moved; otherwise it drops the range's clean page cache and moves
//! the other pages away, for which it needs free pages elsewhere. It reclaims for these as for any request.
//!
//! Linux counterpart: `alloc_contig_pages`, `pfn_range_valid_contig`, `has_unmovable_pages`,
//! `__alloc_contig_migrate_range`.

use freehold::Migratetype;
use freehold_linux::pageblocks::{Pageblock, PageblockMap, UnmovableKind, ZonePageblocks};
use freehold_trace::ZoneSnapshot;
use serde::Serialize;

use super::evidence::Evidence;
use super::holders::HolderKind;
use super::request::BlockRequest;

/// How a range can be had.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RangeState {
    /// All its pages are free.
    Free,
    /// Its pages in use can be moved into memory that is free now; its clean page cache is dropped.
    Movable,
    /// Its pages can be moved if clean page cache elsewhere is dropped first.
    Reclaimable,
    /// Its pages can be moved, but no memory is left for them.
    NoRoom,
    /// A page of it is memory that the kernel has not set up yet; nothing else holds it.
    NotSetUp,
    /// A page of it cannot be moved.
    Unmovable,
    /// A page of it is reserved or no memory, or belongs to another zone.
    Outside,
}

/// An aligned range of memory in one zone.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Range {
    /// NUMA node.
    pub node: u32,
    /// Name of the zone.
    pub zone: String,
    /// First frame.
    pub start_pfn: u64,
    /// How the range can be had.
    pub state: RangeState,
    /// True if it can be had at most: whatever holds it may be free pages on per-CPU lists, or huge pages
    /// that this kernel moves.
    pub perhaps: bool,
    /// Free pages, those known to be on per-CPU lists among them: the kernel drains these first.
    pub free: u64,
    /// Pages that must be moved.
    pub movable: u64,
    /// Pages of clean page cache that nobody maps.
    pub clean: u64,
    /// What holds the range, in pages, most first.
    pub holders: Vec<RangePages>,
}

/// Unmovable pages of one kind in a range.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct RangePages {
    /// The kind.
    pub kind: HolderKind,
    /// The pages.
    pub pages: u64,
}

/// Returns the aligned ranges of the requested size in the requested zones, by ascending frames.
pub(super) fn ranges(evidence: &Evidence<'_>, map: &PageblockMap, request: &BlockRequest) -> Vec<Range> {
    let mut found = Vec::new();
    for (at, zone) in map.zones.iter().enumerate() {
        let wanted = request.wants(zone.node, &zone.name);
        if wanted && (request.zone.is_some() || evidence.ranges.uses_zone(&zone.name)) {
            let types = evidence.types.and_then(|types| types.get(at)).map_or(&[][..], Vec::as_slice);
            let pages =
                RangeReader { evidence, zone, types, pages: map.pageblock_pages(), order: request.order };
            found.extend(pages.read());
        }
    }
    let unknown = evidence.names.per_cpu_pages.saturating_sub(map.listed_pages());
    allow_for_lists(&mut found, unknown);
    give_room(&mut found, evidence);
    found
}

/// Reads the ranges of one zone.
struct RangeReader<'a> {
    evidence: &'a Evidence<'a>,
    zone: &'a ZonePageblocks,
    types: &'a [Option<Migratetype>],
    /// Pages of a pageblock.
    pages: u64,
    order: u8,
}

impl RangeReader<'_> {
    fn read(&self) -> Vec<Range> {
        let size = 1_u64 << self.order;
        let end = self.zone.start_pfn + self.zone.blocks.len() as u64 * self.pages;
        let blocks = (size / self.pages) as usize;
        let mut start = self.zone.start_pfn.next_multiple_of(size);
        let mut found = Vec::new();
        while start + size <= end {
            let first = ((start - self.zone.start_pfn) / self.pages) as usize;
            found.push(self.range(start, first..first + blocks));
            start += size;
        }
        found
    }

    fn range(&self, start_pfn: u64, blocks: std::ops::Range<usize>) -> Range {
        let types = self.types.get(blocks.clone()).unwrap_or_default();
        let kept =
            |kind: &&Option<Migratetype>| matches!(kind, Some(Migratetype::Cma | Migratetype::Isolate));
        let kept = types.iter().filter(kept).count() as u64 * self.pages;
        let blocks = &self.zone.blocks[blocks];
        let sum = |pages: &dyn Fn(&Pageblock) -> u64| blocks.iter().map(pages).sum::<u64>();
        let unmovable = |why: UnmovableKind| sum(&|block| u64::from(block.pages_of(why)));
        let clean = sum(&|block| u64::from(block.file_clean));
        let movable = sum(&|block| u64::from(block.movable())) - clean;
        let hugetlb = unmovable(UnmovableKind::Hugetlb);
        let listed = sum(&|block| u64::from(block.listed));
        let pages_of = [
            (HolderKind::Slab, unmovable(UnmovableKind::Slab)),
            (HolderKind::PageTables, unmovable(UnmovableKind::PageTable)),
            (HolderKind::Kernel, unmovable(UnmovableKind::Kernel) - listed),
            (HolderKind::Pinned, unmovable(UnmovableKind::Pinned)),
            (HolderKind::Hugetlb, hugetlb),
            (HolderKind::Offline, unmovable(UnmovableKind::Offline)),
            (HolderKind::Reserved, unmovable(UnmovableKind::Reserved)),
            (HolderKind::Kept, kept),
        ];
        let mut holders: Vec<_> = pages_of
            .map(|(kind, pages)| RangePages { kind, pages })
            .into_iter()
            .filter(|h| h.pages > 0)
            .collect();
        if !self.evidence.ranges.in_use && movable + clean > 0 {
            holders.push(RangePages { kind: HolderKind::InUse, pages: movable + clean });
        }
        holders.sort_by_key(|holder| std::cmp::Reverse(holder.pages));
        let free = sum(&|block| u64::from(block.free)) + listed;
        let outside = unmovable(UnmovableKind::Absent) + unmovable(UnmovableKind::Reserved) > 0
            || self.is_shared(start_pfn);
        let state = match (outside, holders.is_empty()) {
            (true, _) => RangeState::Outside,
            (false, false) => RangeState::Unmovable,
            (false, true) if unmovable(UnmovableKind::Deferred) > 0 => RangeState::NotSetUp,
            (false, true) if free == 1 << self.order => RangeState::Free,
            (false, true) => RangeState::NoRoom,
        };
        // A range that is full of hugetlb pages is most likely one page of that size.
        let smaller = hugetlb == 0 || (self.evidence.ranges.hugetlb && hugetlb < 1 << self.order);
        let may_move = |holder: &RangePages| match holder.kind {
            HolderKind::Hugetlb => smaller,
            kind => kind == HolderKind::Kernel,
        };
        let perhaps = state == RangeState::Unmovable && holders.iter().all(may_move);
        let (node, zone) = (self.zone.node, self.zone.name.clone());
        Range { node, zone, start_pfn, state, perhaps, free, movable, clean, holders }
    }

    /// Returns true if the range is not known to lie in this one zone: zones whose spans overlap are read as
    /// one.
    fn is_shared(&self, start_pfn: u64) -> bool {
        let end = start_pfn + (1 << self.order);
        let spans = |zone: &&ZoneSnapshot| zone.start_pfn < end && start_pfn < zone.start_pfn + zone.spanned;
        let mut zones = self.evidence.zones.iter().filter(spans);
        let own = |zone: &ZoneSnapshot| zone.node == self.zone.node && zone.name == self.zone.name;
        !zones.all(own)
    }
}

/// Leaves only as many ranges that may be had as `left` pages on unknown places of per-CPU lists allow, those
/// with the fewest pages without a flag first.
fn allow_for_lists(ranges: &mut [Range], mut left: u64) {
    let kernels = |range: &Range| -> u64 {
        range.holders.iter().filter(|h| h.kind == HolderKind::Kernel).map(|h| h.pages).sum()
    };
    let mut maybe: Vec<&mut Range> = ranges.iter_mut().filter(|range| range.perhaps).collect();
    maybe.sort_by_key(|range| kernels(range));
    for range in maybe {
        match left.checked_sub(kernels(range)) {
            Some(rest) => left = rest,
            None => range.perhaps = false,
        }
    }
}

/// Decides which ranges with movable pages have room for these elsewhere.
///
/// A range that is taken costs its pages but for its clean page cache, wherever its movable pages go: those
/// that land in another range cost there what they cost here. Once page cache is dropped everywhere, it costs
/// all its pages.
fn give_room(ranges: &mut [Range], evidence: &Evidence<'_>) {
    let keeps = |zone: &ZoneSnapshot| {
        let protection = zone.protection.iter().max().copied().unwrap_or(0);
        zone.watermark_min.saturating_add(zone.boost).saturating_add(protection).min(zone.free)
    };
    let clean = |map: &PageblockMap| {
        map.zones.iter().flat_map(|zone| &zone.blocks).map(|block| u64::from(block.file_clean)).sum::<u64>()
    };
    let room: u64 = evidence.zones.iter().map(|zone| zone.free - keeps(zone)).sum();
    let listed = evidence.map.map_or(0, PageblockMap::listed_pages);
    let mut room = i128::from(room) + i128::from(listed);
    let in_kernels_order = in_kernels_order(ranges, evidence);
    let taken = |range: &Range| i128::from(range.free) + i128::from(range.movable);
    let waiting = |range: &Range| range.state == RangeState::NoRoom;
    let mut dropped_here = 0;
    for range in ranges.iter().filter(|range| range.state == RangeState::Free) {
        room -= taken(range);
    }
    for &at in &in_kernels_order {
        let range = &mut ranges[at];
        if waiting(range) && (range.movable == 0 || room >= taken(range)) {
            range.state = RangeState::Movable;
            room -= taken(range);
            dropped_here += i128::from(range.clean);
        }
    }
    room += i128::from(evidence.map.map_or(0, clean)) - dropped_here;
    for &at in &in_kernels_order {
        let range = &mut ranges[at];
        let all = taken(range) + i128::from(range.clean);
        if waiting(range) && room >= all {
            range.state = RangeState::Reclaimable;
            room -= all;
        }
    }
}

/// Returns the indices of ranges in the order in which the kernel tries them: higher zones first.
fn in_kernels_order(ranges: &[Range], evidence: &Evidence<'_>) -> Vec<usize> {
    let place = |range: &Range| {
        evidence.zones.iter().position(|zone| zone.node == range.node && zone.name == range.zone)
    };
    let mut order: Vec<usize> = (0..ranges.len()).collect();
    order.sort_by_key(|&at| (std::cmp::Reverse(place(&ranges[at])), ranges[at].start_pfn));
    order
}
