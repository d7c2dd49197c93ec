//! Compacts memory, and compares forecast and result.

use std::fs;
use std::io;
use std::path::Path;
use std::thread;
use std::time::Instant;

use anyhow::{Context, anyhow};
use freehold_linux::sensor::ZoneFreeBlocks;
use freehold_monitor::verdict::{BlockRequest, Verdict, ZoneSupply};
use rustix::thread::{CpuSet, sched_setaffinity};
use serde::Serialize;

use crate::args::Sensing;
use crate::commands::bounded_lists::{self, BoundedLists};
use crate::commands::repair_lock::{ended_by_signal, must_be_root};
use crate::exit::{Cause, Failure};
use crate::readings::Readings;

/// The file that starts compaction of all memory when it is written to.
const COMPACT: &str = "proc/sys/vm/compact_memory";

/// A forecast of compaction, and what the compaction did.
#[derive(Serialize)]
pub(super) struct CompactionTrial {
    /// Free blocks of the requested order before compaction.
    pub(super) before: u64,
    /// Free blocks that the forecast promised.
    pub(super) predicted: u64,
    /// The most free blocks that the forecast allowed for.
    pub(super) at_most: u64,
    /// Free blocks after compaction.
    pub(super) real: u64,
    /// The error of the forecast in percent of the real number; above 0 if too much was promised.
    pub(super) error_percent: f64,
    /// The duration of the compaction in milliseconds.
    pub(super) compaction_ms: u64,
    /// The verdict after compaction.
    pub(super) after: Verdict,
}

/// Fails if this process may not start compaction.
pub(super) fn check_permitted(root: &Path) -> Result<(), Failure> {
    let path = root.join(COMPACT);
    if !path.exists() {
        let error = anyhow!(
            "{} is missing: the kernel was built without CONFIG_COMPACTION. Leave out --verify",
            path.display()
        );
        return Err(Failure::new(Cause::Machine, error));
    }
    must_be_root("compact memory", "leave out --verify")
}

/// Compacts all memory and compares the outcome with the forecast. CPUs' lists are kept short meanwhile, as a repair does.
///
/// It compacts on the CPU that the forecast assumes, as the pages that are freed last stay on that CPU's
/// lists.
pub(super) fn run(
    sensing: &Sensing,
    readings: &mut Readings,
    verdict: &Verdict,
    cpu: Option<u32>,
) -> Result<CompactionTrial, Failure> {
    let root = sensing.root.as_path();
    let path = root.join(COMPACT);
    let sum = |blocks: fn(&ZoneSupply) -> Option<u64>| {
        verdict.zones.iter().map(blocks).try_fold(0, |sum, n| Some(sum + n?))
    };
    let predicted = sum(|zone| zone.compacted);
    let at_most = sum(|zone| zone.compacted_at_most).unwrap_or(0);
    let predicted = predicted.ok_or_else(|| {
        let why = verdict.missing.join("; ");
        Failure::new(Cause::Machine, anyhow!("there is no forecast to verify: {why}"))
    })?;
    // A signal waits until the bound is back.
    let _ended = ended_by_signal();
    let _bounded = BoundedLists::new(root);
    let drained = || bounded_lists::drain(root, || Ok(false));
    drained()?;
    let started = Instant::now();
    compact_on(cpu, &path)
        .with_context(|| format!("{} refuses to compact memory; leave out --verify", path.display()))
        .map_err(|error| Failure::new(Cause::Machine, error))?;
    let compaction_ms = started.elapsed().as_millis() as u64;
    drained()?;
    let real = blocks(&readings.free_again(root)?, &verdict.request);
    let after = Readings::take(root, sensing.sensor.into(), &verdict.request)?.judge(&verdict.request, None);
    let error_percent = (predicted as f64 - real as f64) * 100.0 / (real.max(1) as f64);
    let before = verdict.zones.iter().map(|zone| zone.now).sum();
    Ok(CompactionTrial { before, predicted, at_most, real, error_percent, compaction_ms, after })
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

/// Returns the free blocks of the requested order in the requested zones.
fn blocks(free: &[ZoneFreeBlocks], request: &BlockRequest) -> u64 {
    let wanted = free.iter().filter(|zone| request.wants(zone.node, &zone.name));
    wanted.map(|zone| zone.blocks_from(usize::from(request.order))).sum()
}
