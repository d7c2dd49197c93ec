//! The one thing to do about a verdict, in a sentence.

use std::fmt::Write;

use super::answer::{State, Verdict};
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
}

/// Returns the one thing to do; `None` if the blocks can be had now.
pub(super) fn action(verdict: &Verdict) -> Option<String> {
    advise(&Advice {
        request: &verdict.request,
        state: verdict.state,
        plan: &verdict.plan,
        now: verdict.supply.now,
        relief: verdict.relief.first().map(String::as_str),
        look_again: if verdict.missing.is_empty() {
            "look again where /proc/kpageflags can be read, as root"
        } else {
            "look again where what is named below as not read can be read"
        },
    })
}

/// The same of any verdict.
pub(super) fn advise(advice: &Advice<'_>) -> Option<String> {
    let said = match advice.plan {
        RepairPlan::Enough => return None,
        RepairPlan::Steps { steps } => repair(advice, steps),
        RepairPlan::Pool { page_kib, predicted } => format!(
            "Do: raise /sys/kernel/mm/hugepages/hugepages-{page_kib}kB/nr_hugepages, which makes the kernel empty \
             ranges ({predicted} expected)"
        ),
        RepairPlan::Unknown => format!("Do: {}", advice.look_again),
        RepairPlan::Impossible if advice.state == State::AfterSetup => {
            "Do nothing yet: a request that finds no block makes the kernel set up more memory".to_owned()
        }
        RepairPlan::Impossible => match advice.relief {
            Some(relief) => format!("Nothing short of freeing memory helps: {relief}"),
            None => "Nothing short of freeing memory helps, or a reboot".to_owned(),
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
    let are = if now == 1 { "is" } else { "are" };
    let does = format!("({}: {predicted} expected{most}, {now} {are} free)", verbs.join(", "));
    match command(advice.request) {
        Some(command) => format!("Do: {command} {does}"),
        None => format!("Do: freehold repair for a node, or for all zones; it takes no other choice {does}"),
    }
}

/// Returns the command that repairs; `None` for a choice of memory that it does not take.
fn command(request: &BlockRequest) -> Option<String> {
    let mut command =
        format!("freehold repair --need {}={}", SizeText(request.block_bytes).short(), request.blocks);
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
