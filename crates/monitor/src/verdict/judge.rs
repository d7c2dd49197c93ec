//! Judges from the evidence whether the requested blocks can be had.

use std::collections::BTreeMap;

use freehold::Migratetype;
use freehold_linux::pageblocks::{Held, Pageblock, PageblockMap, ZonePageblocks};
use freehold_linux::sensor::ZoneFreeBlocks;
use freehold_trace::ZoneSnapshot;

use super::answer::{NodeVerdict, State, Verdict};
use super::blocks::{Block, blocks_of};
use super::compaction::{Care, Compacted, Fate, Foretold, Limits, compact, likely_type};
use super::evidence::Evidence;
use super::holders::holders;
use super::range_map::RangeMap;
use super::request::BlockRequest;
use super::sentences;
use super::supply::{Supply, ZoneSupply, allowed};

/// Judges whether and how a machine can give the requested blocks.
pub fn judge(evidence: &Evidence<'_>, asked: &BlockRequest) -> Verdict {
    let ranges = evidence.map.filter(|_| asked.contiguous).map(|map| RangeMap::new(evidence, map, asked));
    let zones: Vec<_> = evidence
        .zones
        .iter()
        .filter(|zone| asked.wants(zone.node, &zone.name))
        .map(|zone| match &ranges {
            Some(ranges) => ranges.supply(zone),
            None => zone_supply(evidence, zone, asked),
        })
        .collect();
    let supply = Supply::of(&zones);
    let state = state(&supply, asked.blocks, zones.is_empty());
    let holders = evidence.map.map_or_else(Vec::new, |map| holders(evidence, map, asked));
    let mut verdict = Verdict {
        state,
        exit_code: state.exit_code(),
        asked: asked.clone(),
        reason: Vec::new(),
        supply,
        nodes: by_node(&zones, asked.blocks),
        zones,
        ranges,
        holders,
        charges: evidence.names.charges.clone(),
        missing: evidence.missing.to_vec(),
    };
    verdict.reason = sentences::reason(&verdict, evidence);
    verdict
}

/// Judges each node by itself, where `zones` are of several.
fn by_node(zones: &[ZoneSupply], wanted: u64) -> Vec<NodeVerdict> {
    let mut nodes: BTreeMap<u32, Vec<ZoneSupply>> = BTreeMap::new();
    for zone in zones {
        nodes.entry(zone.node).or_default().push(zone.clone());
    }
    if nodes.len() < 2 {
        return Vec::new();
    }
    let of_node = |(node, zones): (u32, Vec<ZoneSupply>)| {
        let supply = Supply::of(&zones);
        NodeVerdict { node, state: state(&supply, wanted, false), supply }
    };
    nodes.into_iter().map(of_node).collect()
}

fn state(supply: &Supply, wanted: u64, nowhere: bool) -> State {
    let enough = |blocks: Option<u64>| blocks.is_some_and(|blocks| blocks >= wanted);
    let with_deferred = |blocks: u64| enough(Some(blocks.saturating_add(supply.deferred)));
    if nowhere {
        State::Unknown
    } else if enough(Some(supply.now)) {
        State::AvailableNow
    } else if enough(supply.after_compaction) {
        State::AfterCompaction
    } else if with_deferred(supply.now) {
        State::AfterSetup
    } else if enough(supply.after_reclaim) {
        State::AfterReclaim
    } else if enough(supply.after_reclaim_and_compaction) {
        State::AfterReclaimAndCompaction
    } else {
        match supply.after_reclaim_and_compaction {
            Some(blocks) if with_deferred(blocks) => State::AfterSetup,
            Some(_) => State::NotBeforeFreed,
            None => State::Unknown,
        }
    }
}

fn zone_supply(evidence: &Evidence<'_>, zone: &ZoneSnapshot, asked: &BlockRequest) -> ZoneSupply {
    let (order, own) = (asked.order, asked.zone.is_some());
    let free = evidence.free.iter().find(|free| free.node == zone.node && free.name == zone.name);
    let now = free.map_or(0, |free| free.blocks_from(usize::from(order)));
    let (unusable, unusable_pages) = free.map_or((0, 0), |free| unusable(free, order));
    let usable_pages = zone.free.saturating_sub(unusable_pages);
    let mut supply = ZoneSupply {
        node: zone.node,
        name: zone.name.clone(),
        now,
        unusable,
        allowed: allowed(zone, order, usable_pages, own),
        ..ZoneSupply::default()
    };
    let Some(map) = evidence.map else { return supply };
    let found = map.zones.iter().position(|blocks| blocks.node == zone.node && blocks.name == zone.name);
    let Some(at) = found else {
        // This zone's pageblocks are counted under the zone that its span overlaps with.
        (supply.compacted, supply.reclaimed, supply.both) = (Some(now), Some(now), Some(now));
        (supply.compacted_at_most, supply.allowed_reclaimed) = (Some(now), supply.allowed);
        return supply;
    };
    let foretell = Foretell { evidence, map, at, zone, order };
    let blocks = &map.zones[at].blocks;
    let dropped: Vec<_> = blocks.iter().map(without_clean_cache).collect();
    let gained: u64 = blocks.iter().map(|block| u64::from(block.file_clean)).sum();
    supply.deferred = foretell.deferred();
    let compacted = foretell.compact(blocks, zone.free, Care::Surely);
    let most = foretell.compact(blocks, zone.free, Care::AtMost);
    // Pageblocks are read up to minutes before the free lists: they tell what work adds, and the lists to how much. Blocks
    // smaller than a pageblock are counted too coarsely for that.
    let drifts = order >= map.pageblock_order;
    let then_free = if drifts { foretell.count(blocks, &as_read(blocks)) } else { now };
    let then = |count: u64| Some(count.saturating_add(now).saturating_sub(then_free));
    supply.compacted = then(foretell.count(blocks, &compacted.blocks));
    supply.compacted_at_most = then(foretell.count(blocks, &most.blocks));
    supply.gives_up_at_pfn = compacted.gives_up_at.map(|at| foretell.pfn(at));
    supply.reclaimed = then(foretell.count(&dropped, &as_read(&dropped))).max(Some(now));
    let both = foretell.compact(&dropped, zone.free.saturating_add(gained), Care::Surely);
    supply.both = then(foretell.count(&dropped, &both.blocks));
    supply.allowed_reclaimed = allowed(zone, order, usable_pages.saturating_add(gained), own);
    supply
}

/// Returns free blocks of `order`, and free pages, on lists that ordinary requests cannot use.
fn unusable(free: &ZoneFreeBlocks, order: u8) -> (u64, u64) {
    let Some(by_type) = &free.by_type else { return (0, 0) };
    let pages_from = |from: usize| -> u64 {
        let lists = [Migratetype::HighAtomic, Migratetype::Cma, Migratetype::Isolate];
        let lists = lists.map(|kind| &by_type[kind.index()]);
        let blocks = lists.iter().flat_map(|list| list.iter().enumerate().skip(from));
        blocks.fold(0, |sum, (at, n)| sum.saturating_add(n.blocks.saturating_mul(1 << at)))
    };
    (pages_from(usize::from(order)) >> order, pages_from(0))
}

/// Returns the pageblock after its clean page cache is dropped.
fn without_clean_cache(block: &Pageblock) -> Pageblock {
    Pageblock { free: block.free + block.file_clean, file_clean: 0, ..*block }
}

fn as_read(blocks: &[Pageblock]) -> Vec<Foretold> {
    blocks.iter().map(Foretold::untouched).collect()
}

/// The input for counting a zone's blocks after compaction or reclaim.
struct Foretell<'a> {
    evidence: &'a Evidence<'a>,
    map: &'a PageblockMap,
    at: usize,
    zone: &'a ZoneSnapshot,
    order: u8,
}

impl Foretell<'_> {
    fn blocks(&self) -> &ZonePageblocks {
        &self.map.zones[self.at]
    }

    fn pfn(&self, block: usize) -> u64 {
        self.blocks().start_pfn + block as u64 * self.map.pageblock_pages()
    }

    fn count(&self, read: &[Pageblock], later: &[Foretold]) -> u64 {
        let blocks: Vec<_> = read.iter().zip(later).map(|(read, &later)| Block { read, later }).collect();
        blocks_of(self.order, self.map.pageblock_order, self.blocks().start_pfn, &blocks)
    }

    /// Compacts the zone, which has `free` free pages.
    fn compact(&self, read: &[Pageblock], free: u64, care: Care) -> Compacted {
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
        let per_cpu_high = compacting.map(|set| set.high.max(set.count)).max().unwrap_or(0);
        let per_cpu_count = self.zone.pagesets.iter().fold(0, |sum: u64, set| sum.saturating_add(set.count));
        let limits = Limits { room, per_cpu_high, per_cpu_count };
        compact(read, &types, self.evidence.mobility, limits, care)
    }

    /// Returns the blocks in memory that is not set up yet.
    fn deferred(&self) -> u64 {
        let pages = self.map.pageblock_pages();
        let whole = |block: &Pageblock| u64::from(block.held_by(Held::Deferred)) == pages;
        let later = self.blocks().blocks.iter().map(|block| Foretold {
            free: if whole(block) { pages as u32 } else { 0 },
            moved: 0,
            fate: Fate::Filled,
        });
        self.count(&self.blocks().blocks, &later.collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use freehold_trace::{ByOrder, ByType, FreeCount};

    use super::super::compaction::Mobility;
    use super::super::evidence::Names;
    use super::super::range_rules::RangeRules;
    use super::*;

    #[test]
    fn memory_that_is_not_set_up_is_not_promised() {
        let supply = Supply {
            now: 3,
            deferred: 10,
            after_compaction: Some(5),
            after_compaction_at_most: Some(9),
            after_reclaim: Some(4),
            after_reclaim_and_compaction: Some(14),
        };
        let states = [3, 5, 13, 14, 24, 25].map(|wanted| state(&supply, wanted, false));
        let reclaim = State::AfterReclaimAndCompaction;
        let (setup, freed) = (State::AfterSetup, State::NotBeforeFreed);
        assert_eq!(states, [State::AvailableNow, State::AfterCompaction, setup, reclaim, setup, freed]);
        assert_eq!((setup.exit_code(), state(&supply, 1, true)), (1, State::Unknown));
    }

    #[test]
    fn blocks_of_reserves_are_not_usable() {
        let mut by_type = ByType::<ByOrder<FreeCount>>::default();
        for (kind, blocks) in [(Migratetype::Movable, 9), (Migratetype::HighAtomic, 3), (Migratetype::Cma, 2)]
        {
            by_type[kind.index()][9].blocks = blocks;
        }
        by_type[Migratetype::Isolate.index()][10].blocks = 1;
        let zone = ZoneFreeBlocks { by_type: Some(by_type), ..ZoneFreeBlocks::default() };
        assert_eq!(unusable(&zone, 9), (7, 7 << 9));
        assert_eq!(unusable(&zone, 10), (1, 7 << 9));
        assert_eq!(unusable(&ZoneFreeBlocks::default(), 9), (0, 0));
    }

    #[test]
    fn what_work_adds_is_added_to_what_is_free_now() {
        let block = |free: u16, anon: u16| Pageblock { free, anon, ..Pageblock::default() };
        let blocks = vec![block(4, 4), block(8, 0), block(8, 0), block(4, 4)];
        let zone = ZonePageblocks { name: "Normal".to_owned(), blocks, ..ZonePageblocks::default() };
        let map = PageblockMap { pageblock_order: 3, zones: vec![zone] };
        let (names, mobility) = (Names::default(), Mobility::default());
        let after = |now: u64| {
            let (name, free) = ("Normal".to_owned(), now * 8 + 8);
            let zones = [ZoneSnapshot {
                name: name.clone(),
                spanned: 32,
                present: 32,
                managed: 32,
                free,
                ..ZoneSnapshot::default()
            }];
            let mut free = ZoneFreeBlocks { name, ..ZoneFreeBlocks::default() };
            free.total[3].blocks = now;
            let evidence = Evidence {
                zones: &zones,
                free: std::slice::from_ref(&free),
                map: Some(&map),
                types: None,
                mobility,
                ranges: RangeRules::of_release("6.12", false),
                compacting_cpu: None,
                names: &names,
                slab_of: None,
                missing: &[],
            };
            let asked = BlockRequest {
                order: 3,
                block_bytes: 8 << 12,
                contiguous: false,
                blocks: 1,
                node: None,
                allowed_nodes: None,
                zone: None,
            };
            judge(&evidence, &asked).supply.after_compaction
        };
        // Two were free when the pageblocks were read, of which compaction makes three.
        assert_eq!([1, 2, 5].map(after), [Some(2), Some(3), Some(6)]);
    }
}
