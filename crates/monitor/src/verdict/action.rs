//! The one thing to do about a verdict, in a sentence.

use std::fmt::Write;

use super::answer::{State, Verdict};
use super::evidence::Evidence;
use super::forecast::{Forecast, Requester};
use super::highest_zone::HighestZone;
use super::request::BlockRequest;
use super::size::SizeText;
use super::step::{RepairPlan, RepairStep};

/// What the one thing to do follows from, of whichever verdict.
pub(super) struct Advice<'a> {
    /// The request.
    pub(super) request: &'a BlockRequest,
    /// How the blocks can be had.
    pub(super) state: State,
    /// What a repair would do.
    pub(super) plan: &'a RepairPlan,
    /// Blocks that are free now.
    pub(super) now: u64,
    /// Who must let go of memory, or who says so.
    pub(super) relief: Option<&'a str>,
    /// What to do where the readings do not suffice to tell.
    pub(super) look_again: &'a str,
    /// All blocks of the zones, if they are known.
    pub(super) all: Option<u64>,
    /// The probability that the blocks come after a repair, if it is known.
    pub(super) after_repair: Option<f64>,
    /// True if the kernel has no hugetlb pool of this size.
    pub(super) has_no_pool: bool,
}

/// Returns the one thing to do; `None` if the blocks can be had now.
pub(super) fn action(verdict: &Verdict, evidence: &Evidence<'_>) -> Option<String> {
    let forecast = verdict.forecast.as_ref();
    let page_kib = verdict.request.block_bytes >> 10;
    let pools = &evidence.names.hugetlb;
    let of_repair = |forecast: &Forecast| {
        Forecast::new(Requester::Repair, forecast.inputs, verdict.request.blocks).probability
    };
    advise(&Advice {
        request: &verdict.request,
        state: verdict.state,
        plan: &verdict.plan,
        now: verdict.supply.now,
        relief: verdict.relief.first().map(String::as_str),
        look_again: if verdict.missing.is_empty() {
            "run as root: /proc/kpageflags is needed to predict compaction"
        } else {
            "run as root, so that the files named below can be read"
        },
        all: forecast.map(|forecast| forecast.inputs.all),
        after_repair: forecast.map(of_repair),
        has_no_pool: !pools.is_empty() && pools.iter().all(|pool| pool.page_kib != page_kib),
    })
}

/// The same of any verdict.
pub(super) fn advise(advice: &Advice<'_>) -> Option<String> {
    if let Some(all) = advice.all.filter(|&all| advice.request.blocks > all) {
        let size = SizeText(advice.request.block_bytes).short();
        return Some(format!("Action: request fewer: these zones have {all} x {size} in all"));
    }
    let is_unlikely = |least| advice.after_repair.is_some_and(|probability| probability < least);
    let said = match advice.plan {
        RepairPlan::Enough => return None,
        RepairPlan::Steps { steps } if advice.state != State::NotBeforeFreed || !is_unlikely(0.5) => {
            repair(advice, steps)
        }
        RepairPlan::Pool { page_kib, .. } if advice.has_no_pool => format!(
            "Action: none: this kernel has no hugetlb pool of {}; only CMA and memory hotplug empty such ranges",
            SizeText(page_kib << 10)
        ),
        RepairPlan::Pool { page_kib, predicted } => format!(
            "Action: raise /sys/kernel/mm/hugepages/hugepages-{page_kib}kB/nr_hugepages, which makes the kernel \
             empty ranges ({predicted} expected)"
        ),
        RepairPlan::Unknown => format!("Action: {}", advice.look_again),
        RepairPlan::Impossible if advice.state == State::AfterSetup => {
            "Action: wait: a request that finds no block makes the kernel set up more memory".to_owned()
        }
        RepairPlan::Impossible if advice.state != State::NotBeforeFreed && !is_unlikely(0.5) => {
            "Action: request them: the kernel then reclaims and compacts by itself".to_owned()
        }
        RepairPlan::Impossible | RepairPlan::Steps { .. } => match advice.relief {
            Some(relief) => format!("Action: free memory: {relief}"),
            None => "Action: free memory, or reboot".to_owned(),
        },
    };
    Some(said)
}

fn repair(advice: &Advice<'_>, steps: &[RepairStep]) -> String {
    let verbs: Vec<_> = steps.iter().map(|step| step.work.verb()).collect();
    let last = steps.last();
    let predicted = last.map_or(0, |step| step.predicted);
    let most = if last.is_some_and(|step| step.perhaps) { " at most" } else { "" };
    let now = advice.now;
    let does = format!("({}: {predicted} expected{most}, {now} free now)", verbs.join(", "));
    match command(advice.request) {
        Some(command) => format!("Action: {command} {does}"),
        None => {
            format!("Action: freehold repair for a node, or for all zones; it takes no other choice {does}")
        }
    }
}

/// Returns the command that repairs; `None` for a choice of memory that it does not take.
fn command(request: &BlockRequest) -> Option<String> {
    let mut command =
        format!("freehold repair --need {}={}", SizeText(request.block_bytes).short(), request.blocks);
    if request.highest != HighestZone::User {
        return None;
    }
    let allowed = request.allowed_nodes.as_ref();
    let only = allowed.filter(|nodes| nodes.len() == 1).and_then(|nodes| nodes.first().copied());
    if let Some(node) = request.node.or(only) {
        let _ = write!(command, " --node {node}");
    } else if allowed.is_some() {
        return None;
    }
    if let Some(zone) = &request.zone {
        let _ = write!(command, " --zone {zone}");
    }
    Some(command)
}
