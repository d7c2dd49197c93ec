//! Judges from the evidence whether the requested blocks can be had.

use std::collections::BTreeMap;

use freehold_linux::pageblocks::Pageblock;
use freehold_trace::ZoneSnapshot;

use super::action::action;
use super::answer::{NodeVerdict, State, Verdict};
use super::compaction::Bound;
use super::doubt::Doubt;
use super::evidence::Evidence;
use super::extra_steps::ExtraSteps;
use super::forecast::{Forecast, ForecastInputs};
use super::holders::holders;
use super::plan::plan;
use super::predictor::{Predictor, as_read, without_clean_cache};
use super::range_map::RangeMap;
use super::relief::relief;
use super::request::BlockRequest;
use super::sentences;
use super::step::RepairPlan;
use super::supply::{Supply, ZoneSupply, allowed, unusable};

/// Judges whether and how a machine can give the requested blocks.
pub fn judge(evidence: &Evidence<'_>, request: &BlockRequest) -> Verdict {
    let ranges = evidence.map.filter(|_| request.contiguous).map(|map| RangeMap::new(evidence, map, request));
    let zones: Vec<_> = evidence
        .zones
        .iter()
        .filter(|zone| request.wants(zone.node, &zone.name))
        .map(|zone| match &ranges {
            Some(ranges) => ranges.supply(zone),
            None => zone_supply(evidence, zone, request),
        })
        .collect();
    let supply = Supply::of(&zones);
    let inputs = if request.contiguous { None } else { ForecastInputs::new(evidence, request) };
    let forecast = inputs.map(|inputs| Forecast::new(request.by, inputs, request.blocks));
    let guaranteed = state(&supply, request.blocks, zones.is_empty());
    let state = forecast.map_or(guaranteed, |forecast| likely(guaranteed, forecast.probability));
    let holders = evidence.map.map_or_else(Vec::new, |map| holders(evidence, map, request));
    let mut verdict = Verdict {
        state,
        exit_code: state.exit_code(),
        request: request.clone(),
        action: None,
        reason: Vec::new(),
        supply,
        forecast,
        undecided: doubt(evidence, request, &supply, &zones),
        plan: RepairPlan::Unknown,
        relief: Vec::new(),
        nodes: by_node(&zones, request.blocks),
        zones,
        ranges,
        holders,
        charges: evidence.names.charges.clone(),
        missing: evidence.missing.to_vec(),
    };
    verdict.plan = plan(&verdict, &ExtraSteps::new(evidence, &verdict));
    verdict.relief = relief(&verdict, evidence);
    verdict.reason = sentences::reason(&verdict, evidence);
    verdict.action = action(&verdict, evidence);
    verdict
}

/// Returns how a request for another number of blocks could be served, and how likely it is, by the verdict on one for any number.
pub(super) fn standing_of(verdict: &Verdict, blocks: u64) -> (State, Option<Forecast>) {
    let forecast = verdict.forecast.map(|forecast| Forecast::new(forecast.by, forecast.inputs, blocks));
    let guaranteed = state(&verdict.supply, blocks, verdict.zones.is_empty());
    (forecast.map_or(guaranteed, |forecast| likely(guaranteed, forecast.probability)), forecast)
}

/// Returns why the forecast of compaction has wide bounds.
fn doubt(
    evidence: &Evidence<'_>,
    request: &BlockRequest,
    supply: &Supply,
    zones: &[ZoneSupply],
) -> Option<Doubt> {
    let predicted = evidence.map.is_some() && !request.contiguous;
    predicted.then(|| Doubt::of(supply, zones, evidence.names.is_written()))?
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

/// Returns the state of a request that is served with a probability. `guaranteed` is the state by the bounds of work that somebody
/// else may have to do: a request that is unlikely to be served is so whatever they say.
fn likely(guaranteed: State, probability: f64) -> State {
    match (guaranteed, probability) {
        (State::AvailableNow | State::AfterSetup | State::Unknown, _) => guaranteed,
        (_, ..0.1) => State::NotBeforeFreed,
        (State::NotBeforeFreed, 0.9..) => State::AfterReclaimAndCompaction,
        (State::NotBeforeFreed, _) => State::Undecided,
        _ => guaranteed,
    }
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

fn zone_supply(evidence: &Evidence<'_>, zone: &ZoneSnapshot, request: &BlockRequest) -> ZoneSupply {
    let order = request.order;
    let protection = request.protection(zone, evidence.zones);
    let free = evidence.free_of(zone);
    let now = free.map_or(0, |free| free.blocks_from(usize::from(order)));
    let (unusable, unusable_pages) = free.map_or((0, 0), |free| unusable(free, order));
    let usable_pages = zone.free.saturating_sub(unusable_pages);
    let mut supply = ZoneSupply {
        node: zone.node,
        name: zone.name.clone(),
        now,
        unusable,
        reserved_pages: free.and_then(|free| free.reserves),
        allowed: allowed(zone, order, usable_pages, protection),
        ..ZoneSupply::default()
    };
    let Some(map) = evidence.map else { return supply };
    let Some(predictor) = Predictor::new(evidence, map, zone, order) else {
        (supply.compacted, supply.reclaimed, supply.both) = (Some(now), Some(now), Some(now));
        (supply.compacted_at_most, supply.both_at_most) = (Some(now), Some(now));
        supply.allowed_reclaimed = supply.allowed;
        (supply.allowed_compacted, supply.allowed_compacted_at_most) = (supply.allowed, supply.allowed);
        (supply.allowed_both, supply.allowed_both_at_most) = (supply.allowed, supply.allowed);
        return supply;
    };
    let (blocks, emptied) = (predictor.start(Bound::Lower), predictor.start(Bound::Upper));
    let dropped: Vec<_> = predictor.read().iter().map(without_clean_cache).collect();
    let gained: u64 =
        dropped.iter().zip(predictor.read()).map(|(then, now)| u64::from(then.free - now.free)).sum();
    supply.deferred = predictor.deferred();
    let compacted = predictor.compact(&blocks, zone.free, Bound::Lower);
    supply.compacted = Some(promised(now, predictor.then(now, &blocks, &compacted.blocks)));
    let most = predictor.compact(&emptied, zone.free, Bound::Upper);
    supply.compacted_at_most = Some(predictor.then(now, &emptied, &most.blocks));
    supply.gives_up_at_pfn = compacted.gives_up_at.map(|at| predictor.pfn(at));
    supply.reclaimed = Some(predictor.then(now, &dropped, &as_read(&dropped)).max(now));
    let both = |blocks: &[Pageblock], bound| {
        let dropped: Vec<_> = blocks.iter().map(without_clean_cache).collect();
        let both = predictor.compact(&dropped, zone.free.saturating_add(gained), bound);
        predictor.then(now, &dropped, &both.blocks)
    };
    supply.both = Some(promised(now, both(&blocks, Bound::Lower)));
    supply.both_at_most = Some(both(&emptied, Bound::Upper));
    let allowed = |more: u64| allowed(zone, order, usable_pages.saturating_add(more), protection);
    let (least, most) = predictor.returned_pages();
    supply.allowed_reclaimed = allowed(gained);
    (supply.allowed_compacted, supply.allowed_compacted_at_most) = (allowed(least), allowed(most));
    supply.allowed_both = allowed(gained.saturating_add(least));
    supply.allowed_both_at_most = allowed(gained.saturating_add(most));
    supply
}

/// Of so many blocks after compaction one is not promised: the machine goes on while it is read and compacted.
const RESERVED_SHARE: u64 = 100;

/// Returns the lower bound if `now` blocks are free and so many are predicted.
fn promised(now: u64, predicted: u64) -> u64 {
    (predicted - predicted / RESERVED_SHARE).max(now.min(predicted))
}

#[cfg(test)]
mod tests {
    use freehold::Migratetype;
    use freehold_linux::pageblocks::{PageblockMap, UnmovableKind, ZonePageblocks};
    use freehold_linux::sensor::ZoneFreeBlocks;
    use freehold_trace::{ByOrder, ByType, FreeCount, Pageset};

    use super::super::compaction::Mobility;
    use super::super::evidence::Names;
    use super::super::forecast::Requester;
    use super::super::highest_zone::HighestZone;
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
            after_reclaim_and_compaction_at_most: Some(27),
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
    fn a_request_is_critical_if_it_is_unlikely() {
        let (reclaim, freed) = (State::AfterReclaimAndCompaction, State::NotBeforeFreed);
        let states = [0.9, 0.89, 0.1, 0.09, 0.0].map(|probability| likely(freed, probability));
        assert_eq!(states, [reclaim, State::Undecided, State::Undecided, freed, freed]);
        // Compaction would make them, and the requester does not wait for it.
        assert_eq!([0.09, 0.1].map(|p| likely(State::AfterCompaction, p)), [freed, State::AfterCompaction]);
        assert_eq!(likely(State::AvailableNow, 0.0), State::AvailableNow);
    }

    #[test]
    fn one_block_of_a_hundred_is_held_back() {
        let cases = [(0, 99), (0, 100), (980, 1000), (995, 1000), (1000, 990)];
        assert_eq!(cases.map(|(now, predicted)| promised(now, predicted)), [99, 99, 990, 995, 990]);
    }

    /// What a machine can give of blocks of eight pages.
    fn supply_of(
        zones: &[ZoneSnapshot],
        free: &[ZoneFreeBlocks],
        map: &PageblockMap,
        bounds_lists: bool,
    ) -> Supply {
        let evidence = Evidence {
            zones,
            free,
            map: Some(map),
            types: None,
            mobility: Mobility::default(),
            ranges: RangeRules::of_release("6.12", false),
            compacting_cpu: None,
            bounds_lists,
            names: &Names::default(),
            slab_of: None,
            missing: &[],
        };
        let request = BlockRequest {
            order: 3,
            block_bytes: 8 << 12,
            contiguous: false,
            blocks: 1,
            node: None,
            allowed_nodes: None,
            zone: None,
            highest: HighestZone::default(),
            by: Requester::default(),
        };
        judge(&evidence, &request).supply
    }

    #[test]
    fn lists_that_are_bounded_return_pages() {
        let block = |free: u16, listed: u16| {
            let mut block = Pageblock { free, listed, anon: 8 - free - listed, ..Pageblock::default() };
            block.unmovable[UnmovableKind::Kernel as usize] = listed;
            block
        };
        let blocks = [block(0, 8), block(0, 8), block(8, 0), block(8, 0), block(8, 0), block(8, 0)].to_vec();
        let zone = ZonePageblocks { name: "Normal".to_owned(), blocks, ..ZonePageblocks::default() };
        let map = PageblockMap { pageblock_order: 3, zones: vec![zone] };
        let supply = |bounds_lists: bool, count: u64| {
            let set = Pageset { count, high: 100, batch: 1, ..Pageset::default() };
            let zone = ZoneSnapshot {
                name: "Normal".to_owned(),
                managed: 48,
                free: 32,
                pagesets: vec![set],
                ..ZoneSnapshot::default()
            };
            let mut free = ZoneFreeBlocks { name: "Normal".to_owned(), ..ZoneFreeBlocks::default() };
            free.total[3].blocks = 4;
            let supply = supply_of(&[zone], &[free], &map, bounds_lists);
            (supply.after_compaction, supply.after_compaction_at_most)
        };
        assert_eq!(supply(false, 16), (Some(4), Some(6)), "the lists may keep all");
        assert_eq!(supply(true, 16), (Some(5), Some(6)), "four pages stay, which lie in one pageblock");
        assert_eq!(supply(true, 4), (Some(4), Some(4)), "the bound allows as many");
    }

    #[test]
    fn what_work_adds_is_added_to_what_is_free_now() {
        let block = |free: u16, anon: u16| Pageblock { free, anon, ..Pageblock::default() };
        let blocks = vec![block(4, 4), block(8, 0), block(8, 0), block(4, 4)];
        let zone = ZonePageblocks { name: "Normal".to_owned(), blocks, ..ZonePageblocks::default() };
        let map = PageblockMap { pageblock_order: 3, zones: vec![zone] };
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
            supply_of(&zones, &[free], &map, false).after_compaction
        };
        // Two were free when the pageblocks were read, of which compaction makes three.
        assert_eq!([1, 2, 5].map(after), [Some(2), Some(3), Some(6)]);
    }
}
