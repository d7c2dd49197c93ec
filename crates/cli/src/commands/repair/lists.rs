//! Has CPUs return the free pages on their lists to the zones.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use freehold_linux::procfs::{STAT_REFRESH, read_zoneinfo};
use freehold_monitor::verdict::pages_on_lists;

use super::worker::Worker;
use crate::commands::give_back::OldNumber;
use crate::exit::Failure;

/// How often each CPU is asked before the lists are counted: it returns some batches each time.
const ASKED: u32 = 8;

/// The most time for it.
const MOST: Duration = Duration::from_secs(10);

/// The part of a zone's memory that all lists together may hold, as a fraction's denominator; 0 leaves it to the kernel.
const BOUND: &str = "proc/sys/vm/percpu_pagelist_high_fraction";

/// Has CPUs return pages until there are enough blocks, or the lists become no shorter. A kernel that does not do
/// that is asked in vain. Meanwhile the lists may hold a few batches only, without which the kernel would leave thousands of pages.
///
/// Linux counterpart: `vmstat_refresh`, `decay_pcp_high`.
pub(super) fn drain(worker: &mut Worker<'_>) -> Result<(), Failure> {
    let (root, started) = (worker.root(), Instant::now());
    let file = root.join(STAT_REFRESH);
    worker.drained = true;
    let _old_bound = shorten(root);
    let mut before = pages_on_lists(&read_zoneinfo(root)?);
    while started.elapsed() < MOST && !worker.is_interrupted() && !worker.is_enough()? {
        for _ in 0..ASKED {
            if fs::read(&file).is_err() {
                return Ok(());
            }
        }
        let left = pages_on_lists(&read_zoneinfo(root)?);
        // Others fill lists meanwhile: a hundredth is no progress.
        if left + before / 100 >= before {
            return Ok(());
        }
        before = left;
    }
    Ok(())
}

/// Lets lists hold as little as the kernel can have them hold, until the result is dropped. `None` if the kernel refuses.
fn shorten(root: &Path) -> Option<OldNumber> {
    let path = root.join(BOUND);
    let old = fs::read_to_string(&path).ok()?.trim().parse().ok()?;
    let bound = OldNumber::keep(&path, old);
    fs::write(&path, i32::MAX.to_string()).ok()?;
    Some(bound)
}
