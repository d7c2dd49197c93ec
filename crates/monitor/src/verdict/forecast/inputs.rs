//! What a forecast is made from: numbers of blocks, each after more work of the kernel.

use freehold_linux::pageblocks::{Pageblock, PageblockMap};
use freehold_trace::ZoneSnapshot;
use serde::Serialize;

use super::super::compaction::Bound;
use super::super::evidence::{Evidence, Names};
use super::super::predictor::{Predictor, as_read, without_clean_cache};
use super::super::request::BlockRequest;
use super::super::supply::{above, unusable};

/// Numbers of blocks that a request could have after some work, above the requester's watermark.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ForecastInputs {
    /// Without work.
    pub now: u64,
    /// After the first attempt of direct compaction, which is asynchronous.
    pub direct: u64,
    /// After clean page cache is dropped, and a full compaction, at most.
    pub clean_at_most: u64,
    /// After all page cache is dropped, also what is dirty or mapped, and a full compaction, at most.
    pub dropped_at_most: u64,
    /// The same, and anonymous memory and tmpfs written to swap as far as it has room.
    pub swapped_at_most: u64,
    /// All blocks of the zones.
    pub all: u64,
}

impl ForecastInputs {
    /// Sums up the zones of a request; `None` if their pageblocks are not known.
    pub(in crate::verdict) fn new(evidence: &Evidence<'_>, request: &BlockRequest) -> Option<Self> {
        let map = evidence.map?;
        let wanted = evidence.zones.iter().filter(|zone| request.wants(zone.node, &zone.name));
        let shares = Shares::new(evidence.names, map);
        let managed: u64 = evidence.zones.iter().map(|zone| zone.managed).sum();
        let mut sum = Self::default();
        for zone in wanted {
            let Some(predictor) = Predictor::new(evidence, map, zone, request.order) else { continue };
            let slabs = u128::from(evidence.names.slab_reclaimable_pages) * u128::from(zone.managed);
            let slab_pages = (slabs / u128::from(managed.max(1))) as u64;
            sum.add(&ZoneWork { evidence, zone, request, predictor, shares, slab_pages }.inputs());
        }
        Some(sum)
    }

    fn add(&mut self, zone: &Self) {
        let numbers = [
            (&mut self.now, zone.now),
            (&mut self.direct, zone.direct),
            (&mut self.clean_at_most, zone.clean_at_most),
            (&mut self.dropped_at_most, zone.dropped_at_most),
            (&mut self.swapped_at_most, zone.swapped_at_most),
            (&mut self.all, zone.all),
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
        let clean = |block: &Pageblock| without_clean_cache(&self.shares.split(block));
        let all_cache = |block: &Pageblock| without_all_cache(&self.shares.split(block));
        let swap = |block: &Pageblock| without_anon(&all_cache(block), self.shares.swap);
        let listed = self.zone.pagesets.iter().fold(0, |sum: u64, set| sum.saturating_add(set.count));
        let slab = listed.saturating_add(self.slab_pages);
        let dropped_at_most = self.after(&all_cache, Some(Bound::Upper), slab);
        ForecastInputs {
            now: self.after(&|block| *block, None, 0),
            direct: self.after(&|block| *block, Some(Bound::Direct), listed),
            clean_at_most: self.after(&clean, Some(Bound::Upper), listed),
            dropped_at_most,
            swapped_at_most: if self.shares.swap > 0.0 {
                self.after(&swap, Some(Bound::Upper), slab)
            } else {
                dropped_at_most
            },
            all: self.zone.managed >> self.request.order,
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

    /// Returns so many of the blocks as the requester can take of `free` pages above its watermark.
    fn within(&self, free: u64, blocks: u64) -> u64 {
        let mark = self.request.by.mark(self.zone.watermark_min).saturating_add(self.zone.boost);
        let unusable = self.evidence.free_of(self.zone).map(|free| unusable(free, self.request.order));
        let (unusable_blocks, unusable_pages) = unusable.unwrap_or_default();
        let protection = self.request.protection(self.zone, self.evidence.zones);
        let room = above(mark, self.request.order, free.saturating_sub(unusable_pages), protection);
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
