//! Has CPUs return the free pages on their lists to the zones.

use std::fs;
use std::time::{Duration, Instant};

use freehold_linux::procfs::{STAT_REFRESH, read_zoneinfo};
use freehold_monitor::verdict::pages_on_lists;

use super::worker::Worker;
use crate::exit::Failure;

/// How often each CPU is asked before the lists are counted: it returns some batches each time.
const ASKED: u32 = 8;

/// The most time for it.
const MOST: Duration = Duration::from_secs(10);

/// Has CPUs return pages until there are enough blocks, or the lists become no shorter. A kernel that does not do
/// that is asked in vain.
///
/// Linux counterpart: `vmstat_refresh`, `decay_pcp_high`.
pub(super) fn drain(worker: &mut Worker<'_>) -> Result<(), Failure> {
    let (root, started) = (worker.root(), Instant::now());
    let file = root.join(STAT_REFRESH);
    worker.drained = true;
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
