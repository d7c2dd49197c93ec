//! Lays the requests of a launch on a machine.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::super::answer::Verdict;
use super::super::evidence::Evidence;
use super::super::forecast::{Forecast, Requester};
use super::super::highest_zone::HighestZone;
use super::super::judge::{judge, standing_of};
use super::super::request::BlockRequest;
use super::super::size::SizeText;
use super::super::step::RepairPlan;
use super::outcome::{LineOutcome, Rehearsal, Start};
use super::text::{memory, reason};

/// A difference of probabilities that is no noise.
const CLEARLY: f64 = 0.05;

/// One request of a launch, as the machine understands it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaunchRequest {
    /// The number of its line.
    pub line: usize,
    /// The line.
    pub text: String,
    /// The request, without the blocks that a pool of huge pages has free. It may be for none.
    pub request: BlockRequest,
    /// The blocks that the pool has free for it.
    pub in_pool: u64,
    /// True if it is for a pool of huge pages.
    pub by_pool: bool,
    /// Why the kernel never serves it as the machine is set up, a sentence with the remedy.
    pub never_served: Option<String>,
}

/// Judges whether a machine serves all requests of a launch, which keeps what it gets.
///
/// Requests of several sizes fit if, for each size, the blocks of this size or larger that all of them need are no more than
/// there are; and the same in each set of zones for the requests that may use no others. So each request is judged with the memory
/// of all before it, once for each size and set of zones.
pub fn rehearse(evidence: &Evidence<'_>, launch: &[LaunchRequest]) -> Rehearsal {
    let mut machine = Judged { evidence, verdicts: HashMap::new() };
    let mut served: Vec<LaunchRequest> = Vec::new();
    let mut decided = Vec::new();
    for one in launch {
        if one.never_served.is_some() {
            decided.push((certain(one, Start::Fails), one.request.clone()));
        } else if one.request.blocks == 0 {
            decided.push((certain(one, Start::AtOnce), one.request.clone()));
        } else {
            served.push(one.clone());
            decided.push(line(&mut machine, &served));
        }
    }
    let start = decided.iter().map(|(line, _)| line.start).max().unwrap_or(Start::AtOnce);
    let mut worst = decided.iter().filter(|(line, _)| line.start == start && start != Start::AtOnce);
    let first = if start == Start::Fails {
        worst.next()
    } else {
        let doubt = |line: &LineOutcome| 1.0 - line.probability.unwrap_or(1.0);
        worst.reduce(|first, other| if doubt(&other.0) > doubt(&first.0) { other } else { first })
    };
    let first = first.map(|(line, need)| (line.line, need));
    let never_served = launch.iter().find(|one| Some(one.line) == first.map(|(line, _)| line));
    let never_served = never_served.and_then(|one| one.never_served.clone());
    let (reason, help) = match first {
        Some((_, need)) if never_served.is_none() => {
            let verdict = judge(evidence, need);
            (reason(&verdict), help(evidence, &served, &verdict))
        }
        _ => (never_served, Help::default()),
    };
    let starts = !matches!(start, Start::Fails | Start::Unknown);
    let least = |of: &dyn Fn(&LineOutcome) -> Option<f64>| {
        let probabilities = decided.iter().map(|(line, _)| of(line));
        probabilities.reduce(|least, other| Some(least?.min(other?))).flatten()
    };
    Rehearsal {
        start,
        exit_code: start.exit_code(),
        probability: least(&|line| line.probability),
        after_repair: least(&|line| line.after_repair),
        first: first.map(|(line, _)| line),
        reason,
        action: help.action,
        repair: help.repair,
        left_bytes: served
            .last()
            .filter(|_| starts)
            .and_then(|last| left_bytes(&mut machine, &served, &last.request)),
        lines: decided.into_iter().map(|(line, _)| line).collect(),
        pools: pools(evidence, launch),
        missing: evidence.missing.to_vec(),
    }
}

/// Says how the pools get the pages that the launch needs beyond those that they have free.
fn pools(evidence: &Evidence<'_>, launch: &[LaunchRequest]) -> Vec<String> {
    let hugetlb = launch.iter().filter(|one| one.by_pool && one.never_served.is_none());
    let mut missing: BTreeMap<u64, u64> = BTreeMap::new();
    for one in hugetlb.filter(|one| one.request.blocks > 0) {
        *missing.entry(one.request.block_bytes).or_default() += one.request.blocks;
    }
    let sentence = |(bytes, blocks): (u64, u64)| {
        let pool = evidence.names.hugetlb.iter().find(|pool| pool.page_kib << 10 == bytes);
        let pages = pool.map_or(0, |pool| pool.pages) + blocks;
        format!(
            "The pool of {} pages is short by {blocks}; `echo {pages} > /sys/kernel/mm/hugepages/hugepages-{}kB/nr_hugepages` fills \
             it, and keeps the pages for such programs",
            SizeText(bytes),
            bytes >> 10
        )
    };
    missing.into_iter().map(sentence).collect()
}

/// A machine, and the verdicts on it: most of a verdict does not depend on the number of blocks.
struct Judged<'a> {
    evidence: &'a Evidence<'a>,
    verdicts: HashMap<(u8, bool, HighestZone, Requester), Verdict>,
}

impl Judged<'_> {
    fn verdict(&mut self, request: &BlockRequest) -> &Verdict {
        let key = (request.order, request.contiguous, request.highest, request.by);
        self.verdicts.entry(key).or_insert_with(|| judge(self.evidence, request))
    }

    /// Returns how all blocks of a need can be had by the last line of a launch.
    fn outcome(&mut self, last: &LaunchRequest, need: &BlockRequest) -> LineOutcome {
        let verdict = self.verdict(need);
        let (state, forecast) = standing_of(verdict, need.blocks);
        let probability = forecast.map(|forecast| forecast.probability);
        LineOutcome {
            line: last.line,
            text: last.text.clone(),
            start: Start::of(state, probability),
            never_served: false,
            probability,
            after_repair: forecast.map(|forecast| after_repair(&forecast, need)),
            block_bytes: need.block_bytes,
            needed: need.blocks,
            in_pool: last.in_pool,
            free_now: verdict.supply.now,
        }
    }
}

/// Judges the last of these requests. Returns the outcome, and the need that decides.
fn line(machine: &mut Judged<'_>, launch: &[LaunchRequest]) -> (LineOutcome, BlockRequest) {
    let last = &launch[launch.len() - 1];
    let outcomes = needs(launch).into_iter().map(|need| (machine.outcome(last, &need), need));
    // The size of the request itself decides, unless a smaller one is clearly worse.
    let is_worse = |one: &LineOutcome, other: &LineOutcome| {
        let likely = |line: &LineOutcome| line.probability.unwrap_or(1.0);
        one.start > other.start || (one.start == other.start && likely(one) < likely(other) - CLEARLY)
    };
    let (mut least, mut least_after_repair) = (Some(1.0_f64), Some(1.0_f64));
    let mut decides: Option<(LineOutcome, BlockRequest)> = None;
    for (outcome, need) in outcomes {
        least = least.zip(outcome.probability).map(|(least, other)| least.min(other));
        least_after_repair =
            least_after_repair.zip(outcome.after_repair).map(|(least, other)| least.min(other));
        if decides.as_ref().is_none_or(|(worst, _)| is_worse(&outcome, worst)) {
            decides = Some((outcome, need));
        }
    }
    let (outcome, need) =
        decides.unwrap_or_else(|| (machine.outcome(last, &last.request), last.request.clone()));
    (LineOutcome { probability: least, after_repair: least_after_repair, ..outcome }, need)
}

/// Returns what the launch needs up to its last request: the last one's size first, then all smaller ones, to single pages.
fn needs(launch: &[LaunchRequest]) -> Vec<BlockRequest> {
    let last = &launch[launch.len() - 1].request;
    let orders: BTreeSet<_> = launch.iter().map(|one| one.request.order).chain([0]).collect();
    let zones: BTreeSet<_> = launch.iter().map(|one| one.request.highest).collect();
    let mut needs = Vec::new();
    for &order in orders.iter().rev().filter(|&&order| order <= last.order) {
        for &highest in zones.iter().filter(|&&highest| is_within(last.highest, highest)) {
            let of_order = || launch.iter().map(|one| &one.request).filter(|one| one.order == order);
            let is_own = order == last.order;
            let need = BlockRequest {
                order,
                block_bytes: last.page_bytes() << order,
                contiguous: if is_own {
                    last.contiguous
                } else {
                    order > 0 && of_order().all(|one| one.contiguous)
                },
                blocks: blocks(launch, order, highest),
                highest,
                // The kernel reclaims single pages for anybody who may wait.
                by: if order == 0 { Requester::Pages } else { last.by },
                ..last.clone()
            };
            needs.push(need);
        }
    }
    if last.order == 0 && last.by == Requester::Atomic {
        // Requests that may wait make the kernel reclaim, so they leave what such a request may take.
        let atomic = launch.iter().filter(|one| one.request.by == Requester::Atomic);
        let pages = atomic.map(|one| one.request.blocks.saturating_mul(1 << one.request.order));
        needs.push(BlockRequest { blocks: pages.fold(0, u64::saturating_add), ..last.clone() });
    }
    needs
}

/// Returns how many blocks of this order all requests need that have this order or a larger one, and no zones but these.
fn blocks(launch: &[LaunchRequest], order: u8, highest: HighestZone) -> u64 {
    let requests = launch.iter().map(|one| &one.request);
    let larger = requests.filter(|one| one.order >= order && is_within(one.highest, highest));
    larger.map(|one| one.blocks.saturating_mul(1 << (one.order - order))).fold(0, u64::saturating_add)
}

fn is_within(inner: HighestZone, outer: HighestZone) -> bool {
    inner >= outer
}

/// Returns the outcome of a request that is never served, or from a pool alone.
fn certain(one: &LaunchRequest, start: Start) -> LineOutcome {
    let probability = Some(if start == Start::Fails { 0.0 } else { 1.0 });
    LineOutcome {
        line: one.line,
        text: one.text.clone(),
        start,
        never_served: start == Start::Fails,
        probability,
        after_repair: probability,
        block_bytes: one.request.block_bytes,
        needed: one.request.blocks,
        in_pool: one.in_pool,
        free_now: 0,
    }
}

/// What to do before the launch.
#[derive(Default)]
struct Help {
    /// The one thing to do, a sentence.
    action: Option<String>,
    /// What a repair has to make, if a repair helps.
    repair: Option<BlockRequest>,
}

/// Returns what to do before the launch, where the request of this verdict fails or waits.
fn help(evidence: &Evidence<'_>, launch: &[LaunchRequest], verdict: &Verdict) -> Help {
    let BlockRequest { order, highest, block_bytes, .. } = verdict.request;
    // A repair takes all zones or one by name. A machine may have none that the request could not use.
    let has_others = evidence.zones.iter().any(|zone| !highest.allows(&zone.name));
    let all = BlockRequest {
        blocks: blocks(launch, order, highest),
        highest: if has_others { highest } else { HighestZone::User },
        ..verdict.request.clone()
    };
    if order > 0 {
        // A repair for the whole launch, if there is one.
        let whole = judge(evidence, &all);
        return match whole.plan {
            RepairPlan::Steps { .. } => Help { action: whole.action, repair: Some(all) },
            // A pool empties ranges for itself, and for nobody else.
            RepairPlan::Pool { .. } if all.by == Requester::Range => Help::default(),
            _ => Help { action: verdict.action.clone(), repair: None },
        };
    }
    // No repair makes memory: somebody has to let go of it.
    let at_90 = verdict.forecast.map_or(u64::MAX, |forecast| forecast.at_90);
    let missing = all.blocks.saturating_sub(at_90);
    let who = verdict.relief.first().map_or_else(String::new, |who| format!(": {who}"));
    let action = format!("Action: free {}{who}", memory(missing.saturating_mul(block_bytes)));
    Help { action: (missing > 0).then_some(action), repair: None }
}

/// Returns the probability that the blocks come after a repair, which makes blocks, and no single pages.
fn after_repair(forecast: &Forecast, need: &BlockRequest) -> f64 {
    if need.order == 0 {
        return forecast.probability;
    }
    Forecast::new(Requester::Repair, forecast.inputs, need.blocks).probability.max(forecast.probability)
}

/// Returns the memory that is left for other requests after the launch.
fn left_bytes(machine: &mut Judged<'_>, launch: &[LaunchRequest], last: &BlockRequest) -> Option<u64> {
    let page_bytes = last.page_bytes();
    let single = BlockRequest {
        order: 0,
        block_bytes: page_bytes,
        contiguous: false,
        blocks: blocks(launch, 0, HighestZone::User),
        highest: HighestZone::User,
        by: Requester::Pages,
        ..last.clone()
    };
    let forecast = machine.verdict(&single).forecast?;
    Some(forecast.at_50.saturating_sub(single.blocks).saturating_mul(page_bytes))
}
