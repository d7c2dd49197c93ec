//! What a forecast is made from: numbers of blocks, each after more work of the kernel.

use freehold_linux::pageblocks::{Pageblock, PageblockMap};
use freehold_trace::ZoneSnapshot;
use serde::{Deserialize, Serialize};

use super::super::compaction::{Bound, PredictedBlock};
use super::super::evidence::{Evidence, Names};
use super::super::predictor::{Predictor, as_read, without_clean_cache};
use super::super::request::BlockRequest;
use super::super::supply::{above, unusable};

/// Numbers of blocks that a request could have after some work, above the min watermark.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ForecastInputs {
    /// Without work.
    pub now: u64,
    /// After the first attempt of direct compaction, which is asynchronous.
    pub direct: u64,
    /// After a full compaction, the lower bound.
    pub compacted: u64,
    /// After a full compaction, the upper bound.
    pub compacted_at_most: u64,
    /// After clean page cache is dropped, and the first attempt of direct compaction.
    pub clean_direct: u64,
    /// After clean page cache is dropped, and a full compaction, at most.
    pub clean_at_most: u64,
    /// After all page cache is dropped, also what is dirty or mapped, and nothing moved.
    pub dropped: u64,
    /// The same, and the first attempt of direct compaction.
    pub dropped_direct: u64,
    /// The same, and a full compaction at most.
    pub dropped_at_most: u64,
    /// The same, and anonymous memory and tmpfs written to swap as far as it has room.
    pub swapped_at_most: u64,
    /// Blocks without an unmovable page.
    pub movable: u64,
    /// All blocks of the zones.
    pub all: u64,
    /// Free pages.
    pub free_pages: u64,
    /// Clean page cache that is not mapped.
    pub clean_pages: u64,
    /// Page cache that is dirty, under writeback or mapped.
    pub busy_pages: u64,
    /// Anonymous memory and tmpfs.
    pub anon_pages: u64,
    /// Unevictable pages.
    pub unevictable_pages: u64,
    /// Slab caches that shrinkers can give back.
    pub slab_pages: u64,
    /// Free pages of swap.
    pub swap_pages: u64,
    /// The min watermark of the zones.
    pub min_pages: u64,
    /// The high watermark of the zones, up to which kswapd reclaims.
    pub high_pages: u64,
}

impl ForecastInputs {
    /// Sums up the zones of a request; `None` if their pageblocks are not known.
    pub(in crate::verdict) fn new(evidence: &Evidence<'_>, request: &BlockRequest) -> Option<Self> {
        let map = evidence.map?;
        let wanted = evidence.zones.iter().filter(|zone| request.wants(zone.node, &zone.name));
        let mut sum = Self {
            slab_pages: evidence.names.slab_reclaimable_pages,
            swap_pages: evidence.names.swap_pages,
            ..Self::default()
        };
        let shares = Shares::new(evidence.names, map);
        let managed: u64 = evidence.zones.iter().map(|zone| zone.managed).sum();
        for zone in wanted {
            let Some(predictor) = Predictor::new(evidence, map, zone, request.order) else { continue };
            let slab_pages = sum.slab_pages * zone.managed / managed.max(1);
            sum.add(&ZoneWork { evidence, zone, request, predictor, shares, slab_pages }.inputs());
        }
        Some(sum)
    }

    fn add(&mut self, zone: &Self) {
        let numbers = [
            (&mut self.now, zone.now),
            (&mut self.direct, zone.direct),
            (&mut self.compacted, zone.compacted),
            (&mut self.compacted_at_most, zone.compacted_at_most),
            (&mut self.clean_direct, zone.clean_direct),
            (&mut self.clean_at_most, zone.clean_at_most),
            (&mut self.dropped, zone.dropped),
            (&mut self.dropped_direct, zone.dropped_direct),
            (&mut self.dropped_at_most, zone.dropped_at_most),
            (&mut self.swapped_at_most, zone.swapped_at_most),
            (&mut self.movable, zone.movable),
            (&mut self.all, zone.all),
            (&mut self.free_pages, zone.free_pages),
            (&mut self.clean_pages, zone.clean_pages),
            (&mut self.busy_pages, zone.busy_pages),
            (&mut self.anon_pages, zone.anon_pages),
            (&mut self.unevictable_pages, zone.unevictable_pages),
            (&mut self.min_pages, zone.min_pages),
            (&mut self.high_pages, zone.high_pages),
        ];
        for (sum, more) in numbers {
            *sum = sum.saturating_add(more);
        }
    }
}

/// Which parts of the machine's pages the kernel can take, where a pageblock's record does not say which pages these are.
#[derive(Clone, Copy)]
struct Shares {
    /// The part of anonymous memory that swap has room for.
    swap: f64,
    /// The part of huge pages that nobody maps any more: it comes free when the kernel splits them.
    ///
    /// Linux counterpart: `deferred_split_scan`.
    split: f64,
}

impl Shares {
    fn new(names: &Names, map: &PageblockMap) -> Self {
        let sum = |of: &dyn Fn(&Pageblock) -> u16| -> u64 {
            map.zones.iter().flat_map(|zone| &zone.blocks).map(|block| u64::from(of(block))).sum()
        };
        let anon = sum(&|block| block.anon);
        let huge = sum(&|block| if block.whole_folio { block.anon } else { 0 });
        let used = names.mapped_anon_pages.saturating_add(names.shmem_pages);
        let unmapped = anon.saturating_add(sum(&|block| block.unevictable)).saturating_sub(used);
        let share = |part: u64, all: u64| (part as f64 / all.max(1) as f64).min(1.0);
        // Without the counter nothing is known to be unmapped.
        let unmapped = if names.mapped_anon_pages == 0 { 0 } else { unmapped };
        Self { swap: share(names.swap_pages, anon), split: share(unmapped, huge) }
    }

    /// Returns the pageblock after a huge page in it was split, if one fills it.
    fn split(self, block: &Pageblock) -> Pageblock {
        if block.whole_folio { without_anon(block, self.split) } else { *block }
    }
}

/// One zone, and what the kernel could do in it.
struct ZoneWork<'a> {
    evidence: &'a Evidence<'a>,
    zone: &'a ZoneSnapshot,
    request: &'a BlockRequest,
    predictor: Predictor<'a>,
    shares: Shares,
    /// Pages of slab caches of this zone that shrinkers can give back, if the zones have equal parts of them.
    slab_pages: u64,
}

impl ZoneWork<'_> {
    fn inputs(&self) -> ForecastInputs {
        let blocks = self.predictor.read();
        let pages = |of: fn(&Pageblock) -> u16| blocks.iter().map(|block| u64::from(of(block))).sum::<u64>();
        let clean = |block: &Pageblock| without_clean_cache(&self.shares.split(block));
        let all_cache = |block: &Pageblock| without_all_cache(&self.shares.split(block));
        let swap =
            |block: &Pageblock| without_anon(&without_all_cache(&self.shares.split(block)), self.shares.swap);
        let same = |block: &Pageblock| *block;
        let listed = self.zone.pagesets.iter().fold(0, |sum: u64, set| sum.saturating_add(set.count));
        let slab = listed.saturating_add(self.slab_pages);
        let in_block = 1 << self.request.order;
        ForecastInputs {
            now: self.after(&same, None, 0),
            direct: self.after(&same, Some(Bound::Direct), listed),
            compacted: self.after(&same, Some(Bound::Lower), listed),
            compacted_at_most: self.after(&same, Some(Bound::Upper), listed),
            clean_direct: self.after(&clean, Some(Bound::Direct), listed),
            clean_at_most: self.after(&clean, Some(Bound::Upper), listed),
            dropped: self.after(&all_cache, None, slab),
            dropped_direct: self.after(&all_cache, Some(Bound::Direct), slab),
            dropped_at_most: self.after(&all_cache, Some(Bound::Upper), slab),
            swapped_at_most: self.after(&swap, Some(Bound::Upper), slab),
            movable: self.within(u64::MAX, self.predictor.count(blocks, &emptied(blocks))),
            all: self.zone.managed / in_block,
            free_pages: self.zone.free,
            clean_pages: pages(|block| block.file_clean),
            busy_pages: pages(|block| block.file_busy),
            anon_pages: pages(|block| block.anon),
            unevictable_pages: pages(|block| block.unevictable),
            min_pages: self.zone.watermark_min,
            high_pages: self.zone.watermark_high,
            ..ForecastInputs::default()
        }
    }

    /// Returns the blocks after pages became free and, with a bound, memory was compacted. `elsewhere` are free pages of places
    /// that are not known.
    fn after(
        &self,
        change: &dyn Fn(&Pageblock) -> Pageblock,
        compacted: Option<Bound>,
        elsewhere: u64,
    ) -> u64 {
        let now = self.evidence.free_of(self.zone);
        let now = now.map_or(0, |free| free.blocks_from(usize::from(self.request.order)));
        let start = match compacted {
            Some(Bound::Upper) => self.predictor.start(Bound::Upper),
            _ => self.predictor.read().to_vec(),
        };
        let later: Vec<_> = start.iter().map(change).collect();
        let gained: u64 = later.iter().zip(&start).map(|(then, now)| u64::from(then.free - now.free)).sum();
        let free = self.zone.free.saturating_add(gained);
        let done = match compacted {
            Some(bound) => self.predictor.compact(&later, free, bound).blocks,
            None => as_read(&later),
        };
        self.within(free.saturating_add(elsewhere), self.predictor.then(now, &later, &done).max(now))
    }

    /// Returns so many of the blocks as requests can take above the min watermark of `free` pages.
    fn within(&self, free: u64, blocks: u64) -> u64 {
        let mark = self.zone.watermark_min.saturating_add(self.zone.boost);
        let own = self.request.zone.is_some();
        let unusable = self.evidence.free_of(self.zone).map(|free| unusable(free, self.request.order));
        let (unusable_blocks, unusable_pages) = unusable.unwrap_or_default();
        let room = above(self.zone, mark, self.request.order, free.saturating_sub(unusable_pages), own);
        blocks.saturating_sub(unusable_blocks).min(room)
    }
}

/// Returns the pageblock after all its page cache is dropped.
fn without_all_cache(block: &Pageblock) -> Pageblock {
    let clean = without_clean_cache(block);
    let busy = clean.file_busy;
    let in_small_folios = clean.in_small_folios.map(|pages| pages.saturating_sub(busy));
    Pageblock { file_busy: 0, dirty_order: 0, in_small_folios, ..clean.with_free(busy) }
}

/// Returns the pageblock after a part of its anonymous pages went to swap.
fn without_anon(block: &Pageblock, share: f64) -> Pageblock {
    let gone = (f64::from(block.anon) * share) as u16;
    let whole_folio = block.whole_folio && gone == 0;
    Pageblock { anon: block.anon - gone, whole_folio, ..block.with_free(gone) }
}

/// Returns the pageblocks as if everything that moves were elsewhere.
fn emptied(blocks: &[Pageblock]) -> Vec<PredictedBlock> {
    let free = |block: &Pageblock| PredictedBlock {
        free: u32::from(block.free) + block.movable(),
        ..PredictedBlock::untouched(block)
    };
    blocks.iter().map(free).collect()
}
