//! Carries out a plan, step by step.

use std::path::Path;
use std::time::{Duration, Instant};

use freehold_monitor::verdict::{RepairPlan, RepairStep, RepairWork, Verdict};

use super::answer;
use super::compaction::compact;
use super::counters::Counters;
use super::outcome::{DoneStep, Ending, Outcome};
use super::page_cache::drop_page_cache;
use super::worker::Worker;
use crate::exit::Failure;

/// The most steps, and the most steps of one kind: others may take what comes free.
const MOST_STEPS: usize = 10;
const MAX_ATTEMPTS_PER_STEP: usize = 4;

/// Does step after step until there are enough blocks. After each the machine is read again, and the plan
/// made anew.
pub(super) fn carry_out(worker: &mut Worker<'_>, first: Verdict) -> Result<Outcome, Failure> {
    let (before, plan) = (first.supply.now, first.plan.clone());
    let mut verdict = first;
    let mut done: Vec<DoneStep> = Vec::new();
    // What the last plan had after the step that was done, if that is compaction.
    let mut next: Option<RepairStep> = None;
    let ending = loop {
        let (step, is_last, whole) = match &verdict.plan {
            RepairPlan::Enough => break Ending::Done,
            // What was tried is left out: others make page cache dirty again, and fill lists.
            RepairPlan::Steps { steps } => match to_do(steps, &done) {
                Some((at, whole)) => {
                    next = steps.get(at + 1).filter(|next| is_compaction(&next.work)).cloned();
                    (steps[at].clone(), at + 1 == steps.len(), whole)
                }
                None => break Ending::Short,
            },
            // Compaction for which page cache was dropped costs nothing more.
            _ => match next.take() {
                Some(step) => (step, true, false),
                None => break Ending::Short,
            },
        };
        done.push(carry_out_one(worker, &step, is_last, whole)?);
        // Others make page cache dirty again while the machine is read: what follows a write-back is done at once.
        let at_once = next.take_if(|_| matches!(step.work, RepairWork::WriteBack { .. }));
        if let Some(step) = at_once.filter(|_| !worker.is_interrupted()) {
            done.push(carry_out_one(worker, &step, true, false)?);
        }
        if done.last().is_some_and(|last| last.observed >= worker.request.blocks) {
            break Ending::Done;
        }
        if worker.is_interrupted() {
            break Ending::Interrupted;
        }
        verdict = worker.judge_again()?;
    };
    let now = worker.now()?;
    let taken = ending == Ending::Done && now < worker.request.blocks;
    let ending = if taken { Ending::Short } else { ending };
    let answer = match done.last().filter(|_| taken) {
        Some(last) => answer::taken(worker.request, last.observed, now),
        None => answer::answer(&verdict, ending, now),
    };
    let relief = if ending == Ending::Short && !taken { verdict.relief.clone() } else { Vec::new() };
    Ok(Outcome {
        ending,
        exit_code: ending.exit_code(),
        answer,
        request: verdict.request,
        before,
        now,
        plan,
        steps: done,
        relief,
        missing: verdict.missing,
    })
}

fn is_compaction(work: &RepairWork) -> bool {
    matches!(work, RepairWork::Compact { .. })
}

/// Returns the place of the step to do next, and true if all page cache is to go by it: the last resort, where nothing else may help and the
/// kernel gave up none at a request for a part.
fn to_do(steps: &[RepairStep], done: &[DoneStep]) -> Option<(usize, bool)> {
    let helps = steps.iter().position(|step| may_help(step, done)).map(|at| (at, false));
    let kept = || steps.iter().position(|step| is_kept(step, done)).map(|at| (at, true));
    helps.or_else(kept)
}

/// Returns true for a drop of page cache of which the kernel kept all the last time.
fn is_kept(step: &RepairStep, done: &[DoneStep]) -> bool {
    let is_drop = |work: &RepairWork| matches!(work, RepairWork::DropPageCache { .. });
    let last = done.iter().rev().find(|done| is_drop(&done.step.work));
    let kept = last.is_some_and(|last| last.pages_dropped == 0 && !last.dropped_all);
    is_drop(&step.work) && done.len() < MOST_STEPS && kept
}

/// Returns true if a step has not been tried too often, nor without effect the last time.
fn may_help(step: &RepairStep, done: &[DoneStep]) -> bool {
    let kind = |work: &RepairWork| std::mem::discriminant(work);
    // What was tried before all page cache went may help after it; page cache itself goes once.
    let since = done.iter().rposition(|done| done.dropped_all).map_or(0, |at| at + 1);
    if since > 0 && matches!(step.work, RepairWork::DropPageCache { .. }) {
        return false;
    }
    let tried = &done[since..];
    let same: Vec<_> = tried.iter().filter(|done| kind(&done.step.work) == kind(&step.work)).collect();
    let writes = matches!(step.work, RepairWork::WriteBack { .. });
    let gained_nothing = |last: &&DoneStep| {
        !writes && last.observed <= last.before && last.pages_dropped == 0 && last.pages_migrated == 0
    };
    let most = if matches!(step.work, RepairWork::DrainLists { .. }) { 1 } else { MAX_ATTEMPTS_PER_STEP };
    done.len() < MOST_STEPS && same.len() < most && !same.last().is_some_and(gained_nothing)
}

fn carry_out_one(
    worker: &mut Worker<'_>,
    step: &RepairStep,
    is_last: bool,
    whole: bool,
) -> Result<DoneStep, Failure> {
    let root = worker.root();
    let (counted, before, started) = (Counters::read(root), worker.now()?, Instant::now());
    let mut done = DoneStep {
        step: step.clone(),
        before,
        observed: before,
        stopped_early: false,
        took_ms: 0.0,
        pages_migrated: 0,
        pages_dropped: 0,
        parts: None,
        longest_part_ms: None,
        gave_up: false,
        dropped_all: false,
        others_waited_ms: None,
    };
    match &step.work {
        RepairWork::DrainLists { .. } => {
            worker.drain()?;
        }
        RepairWork::WriteBack { .. } => {
            worker.have_done(Path::new("everything"), None, None, false)?;
        }
        RepairWork::DropPageCache { pages, nodes } => {
            done.dropped_all = drop_page_cache(worker, nodes, *pages, is_last, whole)?.all;
        }
        RepairWork::Compact { nodes } => {
            let compacting = compact(worker, nodes)?;
            done.parts = Some(compacting.parts);
            done.longest_part_ms = Some(ms(compacting.longest));
            done.gave_up = compacting.gave_up;
        }
    }
    done.took_ms = ms(started.elapsed());
    let after = Counters::read(root);
    done.pages_migrated = after.migrated_since(&counted);
    done.pages_dropped = after.dropped_since(&counted);
    // The kernel counts its own reclaim for this process as waiting.
    let counts = is_compaction(&step.work);
    done.others_waited_ms = after.waited_since(&counted).filter(|_| counts).map(|us| us as f64 / 1e3);
    done.observed = worker.now()?;
    done.stopped_early = done.observed >= worker.request.blocks && done.observed < step.predicted;
    Ok(done)
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(work: RepairWork, pages_dropped: u64) -> DoneStep {
        DoneStep {
            step: RepairStep { work, predicted: 9, perhaps: false },
            before: 5,
            observed: 5,
            stopped_early: false,
            took_ms: 0.0,
            pages_migrated: 0,
            pages_dropped,
            parts: None,
            longest_part_ms: None,
            gave_up: false,
            dropped_all: false,
            others_waited_ms: None,
        }
    }

    #[test]
    fn all_page_cache_goes_only_where_nothing_else_may_help() {
        let drop = || RepairWork::DropPageCache { pages: 8, nodes: vec![0] };
        let compact = || RepairWork::Compact { nodes: vec![0] };
        let steps = [drop(), compact()].map(|work| RepairStep { work, predicted: 9, perhaps: false });
        assert_eq!(to_do(&steps, &[]), Some((0, false)));
        assert_eq!(to_do(&steps, &[done(drop(), 0)]), Some((1, false)), "compaction loses nothing");
        let gained_nothing = [done(drop(), 0), done(compact(), 0)];
        assert_eq!(to_do(&steps, &gained_nothing), Some((0, true)));
        let mut whole = done(drop(), 0);
        whole.dropped_all = true;
        let after = [done(compact(), 0), whole, done(compact(), 0)];
        assert_eq!(to_do(&steps, &after[..2]), Some((1, false)), "compaction may help now");
        assert_eq!(to_do(&steps, &after), None, "no more can go");
    }
}
