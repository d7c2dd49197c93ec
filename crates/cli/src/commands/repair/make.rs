//! One repair: the plan is shown, confirmed and carried out.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::anyhow;
use freehold_monitor::verdict::{BlockRequest, RepairPlan, Verdict};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;

use super::answer::answer;
use super::outcome::{Ending, Outcome};
use super::worker::{Worker, compacting_cpu};
use super::{steps, text};
use crate::args::Repair;
use crate::commands::repair_lock::{RepairLock, must_be_root};
use crate::exit::{Cause, Failure};
use crate::output;
use crate::readings::Readings;

/// Fails if this process may not repair the machine below the root.
pub(super) fn may_repair(args: &Repair) -> Result<(), Failure> {
    if args.sensing.root == Path::new("/") {
        return must_be_root(
            "repair memory, as only root may see what pageblocks hold",
            "see `freehold check`",
        );
    }
    if args.dry_run {
        return Ok(());
    }
    let error =
        anyhow!("--root is a copy of another machine's files, which cannot be repaired. Add --dry-run");
    Err(Failure::new(Cause::Usage, error))
}

/// Takes the lock of repairs. It is taken before the machine is read: what another repair changes would make the forecast wrong.
pub(super) fn lock(args: &Repair) -> Result<Option<RepairLock>, Failure> {
    if args.dry_run { Ok(None) } else { RepairLock::take(Duration::ZERO).map(Some) }
}

/// Makes the blocks of a request on the machine as it was read. `ended` is set when a signal asks this process to end.
pub(super) fn make(
    args: &Repair,
    request: &BlockRequest,
    readings: Readings,
    ended: &Arc<AtomicBool>,
) -> Result<Outcome, Failure> {
    let verdict = readings.judge(request, compacting_cpu(&readings));
    let RepairPlan::Steps { steps } = &verdict.plan else { return Ok(refused(verdict)) };
    if args.dry_run {
        return Ok(untouched(verdict, Ending::Planned));
    }
    let plan = format!("{}\n{}", text::goal(request), text::plan(steps).join("\n"));
    let is_confirmed = args.yes || is_confirmed(&plan, ended)?;
    if ended.load(Ordering::Relaxed) {
        return Ok(untouched(verdict, Ending::Interrupted));
    }
    if !is_confirmed {
        return Ok(untouched(verdict, Ending::Declined));
    }
    let mut worker = Worker::new(&args.sensing, request, args.stall_budget, readings, Arc::clone(ended));
    steps::carry_out(&mut worker, verdict)
}

/// Returns the outcome for a verdict without steps.
fn refused(verdict: Verdict) -> Outcome {
    let ending = match verdict.plan {
        RepairPlan::Enough => Ending::Enough,
        RepairPlan::Unknown => Ending::Unknown,
        _ => Ending::Cannot,
    };
    untouched(verdict, ending)
}

/// Returns the outcome of a repair that changes nothing.
fn untouched(verdict: Verdict, ending: Ending) -> Outcome {
    let now = verdict.supply.now;
    Outcome {
        ending,
        exit_code: ending.exit_code(),
        answer: answer(&verdict, ending, now),
        before: now,
        now,
        steps: Vec::new(),
        relief: verdict.relief,
        missing: verdict.missing,
        plan: verdict.plan,
        request: verdict.request,
    }
}

/// Shows the plan and asks whether it is to be carried out. Returns true if it is, and false after a signal.
///
/// # Errors
/// If there is no terminal for the confirmation.
fn is_confirmed(plan: &str, ended: &AtomicBool) -> Result<bool, Failure> {
    if !io::stdin().is_terminal() {
        let error = anyhow!(
            "there is no terminal for the confirmation. Use --yes to repair, or --dry-run to see the plan"
        );
        return Err(Failure::new(Cause::Usage, error));
    }
    for row in plan.lines() {
        output::note(row);
    }
    let _ = write!(io::stderr(), "Do this? [y/N] ").and_then(|()| io::stderr().flush());
    // A signal does not end a read.
    let pause = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    while poll(&mut [PollFd::new(&io::stdin(), PollFlags::IN)], Some(&pause)) != Ok(1) {
        if ended.load(Ordering::Relaxed) {
            return Ok(false);
        }
    }
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    Ok(read.is_ok() && matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
