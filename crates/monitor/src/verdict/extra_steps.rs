//! Forecasts that only a plan needs: a part of page cache dropped, and dirty page cache written back.

use freehold_linux::pageblocks::Pageblock;

use super::answer::{State, Verdict};
use super::compaction::{Bound, PredictedBlock};
use super::evidence::Evidence;
use super::listed::without_lists;
use super::predictor::{Predictor, as_read, without_clean_cache};
use super::request::BlockRequest;
use super::supply::{ZoneSupply, allowed, unusable};

/// In how many parts page cache is divided.
const PARTS: u64 = 64;

/// What dropping a part of page cache, and writing back what is dirty, would bring.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct ExtraSteps {
    /// The fewest pages of clean page cache after whose drop compaction makes enough, if they are dropped
    /// evenly.
    pub(super) drop_pages: u64,
    /// True if these are all pages of clean page cache.
    pub(super) drops_all: bool,
    /// Blocks after that drop and compaction.
    pub(super) dropped: u64,
    /// Pages on per-CPU lists that the kernel can take back.
    pub(super) listed_pages: u64,
    /// The most blocks after the kernel has taken them back, and nothing else; `None` if the frames on lists are not known.
    pub(super) drained: Option<u64>,
    /// Pages that are dirty or under writeback.
    pub(super) dirty_pages: u64,
    /// Blocks after write-back and compaction.
    pub(super) written: Option<u64>,
    /// Blocks after write-back, the drop of all page cache that is then clean, and compaction. An
    /// estimate, as no flag tells dirty pages from mapped ones in a pageblock's record.
    pub(super) written_and_dropped: Option<u64>,
}

impl ExtraSteps {
    /// Predicts the steps that the verdict's state makes necessary.
    pub(super) fn new(evidence: &Evidence<'_>, verdict: &Verdict) -> Self {
        let names = evidence.names;
        let (listed_pages, dirty_pages) = (names.drainable_pages, names.dirty_pages);
        let mut further = Self { listed_pages, dirty_pages, ..Self::default() };
        let starts = starts(evidence, verdict);
        let known = evidence.map.filter(|_| !verdict.request.contiguous);
        if known.is_some_and(|map| map.listed_pages() > 0) {
            further.drained =
                after(evidence, verdict, &starts, &without_lists, &|_, blocks, _| as_read(blocks));
        }
        let settled = matches!(verdict.state, State::AvailableNow | State::AfterCompaction);
        if known.is_none() || settled || verdict.supply.after_reclaim_and_compaction.is_none() {
            return further;
        }
        let compacted = |predictor: &Predictor<'_>, blocks: &[Pageblock], free: u64| {
            predictor.compact(blocks, free, Bound::Lower).blocks
        };
        let after =
            |change: &dyn Fn(&Pageblock) -> Pageblock| after(evidence, verdict, &starts, change, &compacted);
        let wanted = verdict.request.blocks;
        if verdict.supply.after_reclaim_and_compaction.is_some_and(|blocks| blocks >= wanted) {
            let then = |parts| after(&|block| with_parts_dropped(block, parts)).unwrap_or(0);
            let parts = least_parts(|parts| then(parts) >= wanted);
            further.drop_pages = clean(evidence, &verdict.request, parts);
            further.drops_all = parts == PARTS;
            further.dropped = then(parts);
        }
        let gives_up = verdict.zones.iter().any(|zone| zone.gives_up_at_pfn.is_some());
        if further.dirty_pages == 0 {
            return further;
        }
        if gives_up {
            further.written = after(&|block| Pageblock { dirty_order: 0, ..*block });
        }
        if verdict.supply.after_reclaim_and_compaction < Some(verdict.request.blocks) {
            let busy = busy(evidence).max(1);
            let share = |pages: u16| (u64::from(pages) * further.dirty_pages.min(busy) / busy) as u16;
            further.written_and_dropped = after(&|block| {
                let cleaned = share(block.file_busy);
                without_clean_cache(&Pageblock {
                    file_clean: block.file_clean + cleaned,
                    file_busy: block.file_busy - cleaned,
                    dirty_order: 0,
                    ..*block
                })
            });
        }
        further
    }
}

/// Returns the fewest parts that are `enough`, where more parts are never worse; all if none is.
fn least_parts(enough: impl Fn(u64) -> bool) -> u64 {
    let (mut few, mut many) = (0, PARTS);
    while many - few > 1 {
        let middle = u64::midpoint(few, many);
        if enough(middle) { many = middle } else { few = middle }
    }
    many
}

/// Returns the pageblock after so many [`PARTS`] of its clean page cache are dropped.
fn with_parts_dropped(block: &Pageblock, parts: u64) -> Pageblock {
    let dropped = (u64::from(block.file_clean) * parts / PARTS) as u16;
    Pageblock { file_clean: block.file_clean - dropped, ..block.with_free(dropped) }
}

/// Returns so many [`PARTS`] of the clean page cache in the requested zones.
fn clean(evidence: &Evidence<'_>, request: &BlockRequest, parts: u64) -> u64 {
    let zones = evidence.map.into_iter().flat_map(|map| &map.zones);
    let wanted = zones.filter(|zone| request.wants(zone.node, &zone.name));
    let pages: u64 = wanted.flat_map(|zone| &zone.blocks).map(|block| u64::from(block.file_clean)).sum();
    pages.saturating_mul(parts).div_ceil(PARTS)
}

/// Returns the pages of page cache that are dirty or mapped.
fn busy(evidence: &Evidence<'_>) -> u64 {
    let zones = evidence.map.into_iter().flat_map(|map| &map.zones);
    zones.flat_map(|zone| &zone.blocks).map(|block| u64::from(block.file_busy)).sum()
}

/// Returns each requested zone's pageblocks as compaction finds them.
fn starts(evidence: &Evidence<'_>, verdict: &Verdict) -> Vec<Vec<Pageblock>> {
    let of_zone = |zone: &ZoneSupply| {
        let read = evidence.zones.iter().find(|read| read.node == zone.node && read.name == zone.name)?;
        Some(Predictor::new(evidence, evidence.map?, read, verdict.request.order)?.start(Bound::Lower))
    };
    verdict.zones.iter().map(|zone| of_zone(zone).unwrap_or_default()).collect()
}

/// What a zone with so many free pages becomes of pageblocks.
type Later = dyn Fn(&Predictor<'_>, &[Pageblock], u64) -> Vec<PredictedBlock>;

/// Returns the blocks that requests can have once `change` has freed pages, and then `later` has come.
fn after(
    evidence: &Evidence<'_>,
    verdict: &Verdict,
    starts: &[Vec<Pageblock>],
    change: &dyn Fn(&Pageblock) -> Pageblock,
    later: &Later,
) -> Option<u64> {
    let map = evidence.map?;
    let request = &verdict.request;
    let of_zone = |(zone, start): (&ZoneSupply, &Vec<Pageblock>)| {
        let read = evidence.zones.iter().find(|read| read.node == zone.node && read.name == zone.name)?;
        let now = zone.now.saturating_sub(zone.unusable).min(zone.allowed);
        let Some(predictor) = Predictor::new(evidence, map, read, request.order) else { return Some(now) };
        let blocks: Vec<_> = start.iter().map(change).collect();
        let free = |blocks: &[Pageblock]| blocks.iter().map(|block| u64::from(block.free)).sum::<u64>();
        let gained = free(&blocks).saturating_sub(free(predictor.read()));
        let then = later(&predictor, &blocks, read.free.saturating_add(gained));
        let then = predictor.then(zone.now, &blocks, &then).saturating_sub(zone.unusable);
        // Free pages on lists that requests cannot use do not count, as in the supply.
        let kept = unusable_pages(evidence, zone, request);
        let usable = read.free.saturating_sub(kept).saturating_add(gained);
        let protection = request.protection(read, evidence.zones);
        Some(then.min(allowed(read, request.order, usable, protection)).max(now))
    };
    verdict
        .zones
        .iter()
        .zip(starts)
        .map(of_zone)
        .try_fold(0_u64, |sum, blocks| Some(sum.saturating_add(blocks?)))
}

/// Returns the free pages of a zone on lists that ordinary requests cannot use.
fn unusable_pages(evidence: &Evidence<'_>, zone: &ZoneSupply, request: &BlockRequest) -> u64 {
    let found = evidence.free.iter().find(|free| free.node == zone.node && free.name == zone.name);
    found.map_or(0, |free| unusable(free, request.order).1)
}
