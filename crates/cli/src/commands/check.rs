//! `freehold check`: a verdict with its reason.

use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::Instant;

use anyhow::{Context, anyhow};
use freehold_linux::sensor::ZoneFreeBlocks;
use freehold_monitor::verdict::{BlockRequest, Verdict, ZoneSupply};
use rustix::thread::{CpuSet, sched_setaffinity};
use serde::Serialize;

use super::largest_order::refuse_larger;
use crate::args::{Check, Sensing};
use crate::exit::{Cause, Failure};
use crate::output;
use crate::readings::Readings;

/// The file that starts compaction of all memory when it is written to.
const COMPACT: &str = "proc/sys/vm/compact_memory";

/// A verdict, and the outcome of a compaction if one was run.
#[derive(Serialize)]
struct Report {
    /// Where the pageblocks' migratetypes come from: `bpf`, or `inferred` from the pages that they
    /// hold.
    types: &'static str,
    /// Where the free blocks come from.
    free_from: &'static str,
    #[serde(flatten)]
    verdict: Verdict,
    #[serde(skip_serializing_if = "Option::is_none")]
    tried: Option<Tried>,
}

/// A forecast of compaction, and what the compaction did.
#[derive(Serialize)]
struct Tried {
    /// Free blocks of the asked order before compaction.
    before: u64,
    /// Free blocks that the forecast promised.
    foretold: u64,
    /// The most free blocks that the forecast allowed for.
    at_most: u64,
    /// Free blocks after compaction.
    real: u64,
    /// The error of the forecast in percent of the real number; above 0 if too much was promised.
    error_percent: f64,
    /// The duration of the compaction in milliseconds.
    compaction_ms: u64,
    /// The verdict after compaction.
    after: Verdict,
}

/// Runs the command. The exit codes are those of a monitoring plugin.
pub(crate) fn run(args: &Check) -> ExitCode {
    match check(args) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            output::note(&format!("freehold: could not tell: {failure}"));
            ExitCode::from(3)
        }
    }
}

fn check(args: &Check) -> Result<u8, Failure> {
    let root = args.sensing.root.as_path();
    let asked = BlockRequest {
        order: args.order.get(),
        blocks: args.blocks,
        node: args.node,
        zone: args.zone.clone(),
    };
    if args.try_it {
        check_permitted(root)?;
    }
    let mut readings = Readings::take(root, args.sensing.sensor.into())?;
    refuse_larger(args.order, readings.largest_order(), readings.page_bytes())?;
    let cpu = if args.try_it { readings.calmest_cpu() } else { None };
    let verdict = readings.judge(&asked, cpu);
    let tried = if args.try_it { Some(try_it(&args.sensing, &mut readings, &verdict, cpu)?) } else { None };
    let code = tried.as_ref().map_or(verdict.exit_code, |tried| tried.after.exit_code);
    let report = Report { types: readings.types_from(), free_from: readings.free_from(), verdict, tried };
    let printed = if args.json { output::print_json(&report) } else { output::print(&text(&report)) };
    match printed {
        // A closed pipe is no error: its reader may still look at the exit code.
        Err(failure) if failure.is_broken_pipe() => Ok(code),
        other => other.map(|()| code),
    }
}

/// Fails if this process may not start compaction.
fn check_permitted(root: &Path) -> Result<(), Failure> {
    let path = root.join(COMPACT);
    let fails = |error: anyhow::Error| Err(Failure::new(Cause::Machine, error));
    if !path.exists() {
        return fails(anyhow!(
            "{} is missing: the kernel was built without CONFIG_COMPACTION. Leave out --try",
            path.display()
        ));
    }
    if !rustix::process::geteuid().is_root() {
        return fails(anyhow!(
            "only root may compact memory. Run the same command as root, or leave out --try"
        ));
    }
    Ok(())
}

/// Compacts all memory and compares the outcome with the forecast.
///
/// It compacts on the CPU that the forecast assumes, as the pages that are freed last stay on that CPU's
/// lists.
fn try_it(
    sensing: &Sensing,
    readings: &mut Readings,
    verdict: &Verdict,
    cpu: Option<u32>,
) -> Result<Tried, Failure> {
    let root = sensing.root.as_path();
    let path = root.join(COMPACT);
    let sum = |blocks: fn(&ZoneSupply) -> Option<u64>| {
        verdict.zones.iter().map(blocks).try_fold(0, |sum, n| Some(sum + n?))
    };
    let foretold = sum(|zone| zone.compacted);
    let at_most = sum(|zone| zone.compacted_at_most).unwrap_or(0);
    let foretold = foretold.ok_or_else(|| {
        let why = verdict.missing.join("; ");
        Failure::new(Cause::Machine, anyhow!("nothing was foretold that could be tried: {why}"))
    })?;
    let started = Instant::now();
    compact_on(cpu, &path)
        .with_context(|| format!("{} refuses to compact memory; leave out --try", path.display()))
        .map_err(|error| Failure::new(Cause::Machine, error))?;
    let compaction_ms = started.elapsed().as_millis() as u64;
    let real = blocks(&readings.free_again(root)?, &verdict.asked);
    let after = Readings::take(root, sensing.sensor.into())?.judge(&verdict.asked, None);
    let error_percent = (foretold as f64 - real as f64) * 100.0 / (real.max(1) as f64);
    let before = verdict.zones.iter().map(|zone| zone.now).sum();
    Ok(Tried { before, foretold, at_most, real, error_percent, compaction_ms, after })
}

/// Compacts all memory, on `cpu` if it is given and this process may run there.
fn compact_on(cpu: Option<u32>, path: &Path) -> io::Result<()> {
    thread::scope(|scope| {
        let compacting = scope.spawn(|| {
            if let Some(cpu) = cpu.map(|cpu| cpu as usize).filter(|&cpu| cpu < CpuSet::MAX_CPU) {
                let mut only = CpuSet::new();
                only.set(cpu);
                // On another CPU the forecast may be too high, which the comparison then
                // shows.
                let _ = sched_setaffinity(None, &only);
            }
            fs::write(path, "1")
        });
        compacting.join().unwrap_or_else(|_| Err(io::Error::other("the thread that compacts died")))
    })
}

/// Returns the free blocks of the asked order in the asked zones.
fn blocks(free: &[ZoneFreeBlocks], asked: &BlockRequest) -> u64 {
    let wanted = free.iter().filter(|zone| asked.wants(zone.node, &zone.name));
    wanted.map(|zone| zone.blocks_from(usize::from(asked.order))).sum()
}

/// Formats the report. The state comes first, because monitors show only the first line.
fn text(report: &Report) -> String {
    let Report { verdict, tried, .. } = report;
    let word = ["OK", "WARNING", "CRITICAL", "UNKNOWN"][usize::from(verdict.exit_code.min(3))];
    let mut lines: Vec<String> = verdict.reason.iter().map(|reason| format!("{reason}.")).collect();
    if let Some(first) = lines.first_mut() {
        first.insert_str(0, &format!("{word}: "));
    }
    lines.extend(verdict.missing.iter().map(|missing| format!("Not read: {missing}.")));
    if let Some(tried) = tried {
        lines.push(format!(
            "Tried: {} free blocks before, {} promised and {} at most, {} after {} ms of compaction ({:+.1} %).",
            tried.before, tried.foretold, tried.at_most, tried.real, tried.compaction_ms, tried.error_percent
        ));
        lines.extend(tried.after.reason.first().map(|reason| format!("Now: {reason}.")));
    }
    lines.join("\n")
}
