//! `freehold repair`: does the least that makes enough blocks, and compares each forecast with the result.
//!
//! It asks the user first. `steps.rs` does a step, reads the machine again and makes a new plan. `page_cache.rs` drops page
//! cache in chunks, `compaction.rs` compacts in parts. `child.rs` is the process that writes to the kernel; `worker.rs` kills it
//! when there are enough blocks, a part's time is over, or a signal arrives. The kernel's compaction ends on a fatal signal.

mod answer;
mod child;
mod compaction;
mod counters;
mod outcome;
mod page_cache;
mod steps;
mod text;
mod worker;

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::anyhow;
use freehold_linux::procfs::read_zoneinfo;
use freehold_monitor::verdict::{RepairPlan, Verdict};

use super::repair_lock::{RepairLock, ended_by_signal, must_be_root};
use super::request;
use crate::args::Repair;
use crate::exit::{Cause, Failure};
use crate::output;
use crate::readings::Readings;

use answer::answer;
use outcome::{Ending, Outcome};
use worker::{Worker, compacting_cpu};

pub(crate) use child::kernel_write;

/// Runs the command. The exit codes are those of a monitoring plugin.
pub(crate) fn run(args: &Repair) -> ExitCode {
    let outcome = match repair(args) {
        Ok(outcome) => outcome,
        Err(failure) => {
            output::note(&format!("freehold: {failure}"));
            return ExitCode::from(3);
        }
    };
    let printed =
        if args.json { output::print_json(&outcome) } else { output::print(&text::outcome(&outcome)) };
    match printed {
        // A closed pipe is no error: its reader may still look at the exit code.
        Err(failure) if !failure.is_broken_pipe() => {
            output::note(&format!("freehold: {failure}"));
            ExitCode::from(3)
        }
        _ => ExitCode::from(outcome.exit_code),
    }
}

fn repair(args: &Repair) -> Result<Outcome, Failure> {
    let root = args.sensing.root.as_path();
    if root == Path::new("/") {
        must_be_root("repair memory, as only root may see what pageblocks hold", "see `freehold check`")?;
    } else if !args.dry_run {
        let error =
            anyhow!("--root is a copy of another machine's files, which cannot be repaired. Add --dry-run");
        return Err(Failure::new(Cause::Usage, error));
    }
    let zones = read_zoneinfo(root)?;
    let (request, _) = request::request(&args.into(), root, &zones)?;
    // Taken before the machine is read: what another repair changes would make the forecast wrong.
    let _lock = if args.dry_run { None } else { Some(RepairLock::take(Duration::ZERO)?) };
    let readings = Readings::take(root, args.sensing.sensor.into(), &request)?;
    let verdict = readings.judge(&request, compacting_cpu(&readings));
    let RepairPlan::Steps { steps } = &verdict.plan else { return Ok(refused(verdict)) };
    if args.dry_run {
        return Ok(untouched(verdict, Ending::Planned));
    }
    if !args.yes && !is_confirmed(&text::plan(steps).join("\n"))? {
        return Ok(untouched(verdict, Ending::Declined));
    }
    let mut worker = Worker::new(&args.sensing, &request, args.stall_budget, readings, ended_by_signal());
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

/// Shows the plan and asks whether it is to be carried out. Returns true if it is.
///
/// # Errors
/// If there is no terminal for the confirmation.
fn is_confirmed(plan: &str) -> Result<bool, Failure> {
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
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    Ok(read.is_ok() && matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
