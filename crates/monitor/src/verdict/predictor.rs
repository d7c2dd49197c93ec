//! The forecast for one zone: what compaction or reclaim would make of its pageblocks.

use freehold_linux::pageblocks::{Pageblock, PageblockMap, UnmovableKind, ZonePageblocks};
use freehold_trace::ZoneSnapshot;

use super::blocks::{Block, blocks_of};
use super::compaction::{Bound, Compacted, Fate, Limits, PredictedBlock, compact, likely_type};
use super::cpu_lists::CpuLists;
use super::evidence::Evidence;
use super::listed;

/// Returns the pageblock after its clean page cache is dropped.
pub(super) fn without_clean_cache(block: &Pageblock) -> Pageblock {
    let clean = block.file_clean;
    // Which of the folios are clean page cache is not known; most are page cache.
    let in_small_folios = block.in_small_folios.map(|pages| pages.saturating_sub(clean));
    Pageblock { file_clean: 0, in_small_folios, ..block.with_free(clean) }
}

pub(super) fn as_read(blocks: &[Pageblock]) -> Vec<PredictedBlock> {
    blocks.iter().map(PredictedBlock::untouched).collect()
}

/// The input for counting a zone's blocks after compaction or reclaim.
pub(super) struct Predictor<'a> {
    evidence: &'a Evidence<'a>,
    map: &'a PageblockMap,
    at: usize,
    zone: &'a ZoneSnapshot,
    order: u8,
}

impl<'a> Predictor<'a> {
    /// Returns `None` if the zone's pageblocks are counted under the zone that its span overlaps with.
    pub(super) fn new(
        evidence: &'a Evidence<'a>,
        map: &'a PageblockMap,
        zone: &'a ZoneSnapshot,
        order: u8,
    ) -> Option<Self> {
        let at = map.zones.iter().position(|blocks| blocks.node == zone.node && blocks.name == zone.name)?;
        Some(Self { evidence, map, at, zone, order })
    }

    /// Returns the zone's pageblocks as they were read.
    pub(super) fn read(&self) -> &'a [Pageblock] {
        &self.map.zones[self.at].blocks
    }

    /// Returns the pageblocks as compaction finds them: CPUs have returned what their lists hold beyond the bound.
    pub(super) fn start(&self, bound: Bound) -> Vec<Pageblock> {
        let read = self.read();
        if !self.evidence.bounds_lists || self.listed() == 0 {
            return read.to_vec();
        }
        match bound {
            Bound::Lower | Bound::Direct => listed::bounded(read, &self.zone.pagesets),
            Bound::Upper => read.iter().map(listed::without_lists).collect(),
        }
    }

    /// Returns the pages on CPUs' lists whose frames are known.
    fn listed(&self) -> u64 {
        self.read().iter().map(|block| u64::from(block.listed)).sum()
    }

    /// Returns the pages that come off CPUs' lists before and while memory is compacted, at least and at most.
    pub(super) fn returned_pages(&self) -> (u64, u64) {
        let (least, most) = listed::returned_pages(&self.zone.pagesets);
        if self.evidence.bounds_lists { (least, most) } else { (0, most) }
    }

    fn blocks(&self) -> &ZonePageblocks {
        &self.map.zones[self.at]
    }

    /// Returns the first frame of a pageblock.
    pub(super) fn pfn(&self, block: usize) -> u64 {
        self.blocks().start_pfn + block as u64 * self.map.pageblock_pages()
    }

    /// Counts the blocks of pageblocks that were `read` and will be as `later` says.
    pub(super) fn count(&self, read: &[Pageblock], later: &[PredictedBlock]) -> u64 {
        let blocks: Vec<_> = read.iter().zip(later).map(|(read, &later)| Block { read, later }).collect();
        blocks_of(self.order, self.map.pageblock_order, self.blocks().start_pfn, &blocks)
    }

    /// Returns the blocks that work leaves, of which `now` are on the free lists already.
    ///
    /// Pageblocks are read up to minutes before the free lists: they tell what work adds, and the lists to
    /// how much. Blocks smaller than a pageblock are counted too coarsely for that.
    pub(super) fn then(&self, now: u64, read: &[Pageblock], later: &[PredictedBlock]) -> u64 {
        let drifts = self.order >= self.map.pageblock_order;
        let then_free = if drifts { self.count(self.read(), &as_read(self.read())) } else { now };
        self.count(read, later).saturating_add(now).saturating_sub(then_free)
    }

    /// Compacts the zone, which has `free` free pages.
    pub(super) fn compact(&self, read: &[Pageblock], free: u64, bound: Bound) -> Compacted {
        // The kernel isolates no free block if that would take the zone below the min watermark
        // (`__isolate_free_page`).
        let largest_taken = self.map.pageblock_pages() / 2;
        let marks = self.zone.watermark_min.saturating_add(self.zone.boost);
        let room = free > marks.saturating_add(largest_taken);
        let known = self.evidence.types.and_then(|types| types.get(self.at)).map_or(&[][..], Vec::as_slice);
        // The types are those of now: reclaim does not change a pageblock's type.
        let now = self.blocks().blocks.iter().enumerate();
        let types: Vec<_> =
            now.map(|(at, block)| known.get(at).copied().flatten().or(Some(likely_type(block)))).collect();
        // If the compacting CPU is unknown, the list that keeps the most pages is assumed.
        let cpu = self.evidence.compacting_cpu;
        let compacting = self.zone.pagesets.iter().filter(|set| cpu.is_none_or(|cpu| cpu == set.cpu));
        let lists = compacting
            .map(|set| CpuLists { count: set.count, high: set.high.max(set.count), batch: set.batch })
            .max_by_key(|lists| lists.high)
            .unwrap_or_default();
        let lists = if self.evidence.bounds_lists { lists.bounded() } else { lists };
        let all = self.zone.pagesets.iter().fold(0, |sum: u64, set| sum.saturating_add(set.count));
        // Those that are known are free already, see `start`.
        let known = if self.evidence.bounds_lists { self.listed() } else { 0 };
        let per_cpu_count = all.saturating_sub(known);
        let limits = Limits { room, lists, per_cpu_count };
        compact(read, &types, self.evidence.mobility, limits, bound)
    }

    /// Returns the blocks in memory that is not set up yet.
    pub(super) fn deferred(&self) -> u64 {
        let pages = self.map.pageblock_pages();
        let whole = |block: &Pageblock| u64::from(block.pages_of(UnmovableKind::Deferred)) == pages;
        let later = self.blocks().blocks.iter().map(|block| PredictedBlock {
            free: if whole(block) { pages as u32 } else { 0 },
            moved: 0,
            fate: Fate::Filled,
        });
        self.count(&self.blocks().blocks, &later.collect::<Vec<_>>())
    }
}
