//! Bounds the free pages on CPUs' lists for a while, and has CPUs return the rest to the zones.
//!
//! Without a bound the CPU that compacts may keep most of what comes free on its lists: Linux 6.7 and later let
//! the lists of all CPUs together hold up to an eighth of a zone.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use freehold_linux::procfs::{LISTS_BOUND, STAT_REFRESH, read_zoneinfo};
use freehold_monitor::verdict::pages_on_lists;

use super::give_back::OldNumber;
use crate::exit::Failure;

/// The number of requests to each CPU before the lists are counted: it returns some batches each time.
const ASKED: u32 = 8;

/// So many pages fewer on lists are progress.
const PROGRESS: u64 = 1024;

/// The most time for it.
const MOST: Duration = Duration::from_secs(10);

/// The bound that leaves lists the least; 0 leaves it to the kernel.
const TIGHTEST: u64 = i32::MAX as u64;

/// The bound of CPUs' lists at its tightest; the old one comes back when this is dropped.
pub(super) struct BoundedLists {
    _old: Option<OldNumber>,
}

impl BoundedLists {
    /// Lets lists hold as little as the kernel can have them hold: four batches. A kernel that refuses is left as it is.
    pub(super) fn new(root: &Path) -> Self {
        Self { _old: tighten(root) }
    }
}

fn tighten(root: &Path) -> Option<OldNumber> {
    let path = root.join(LISTS_BOUND);
    let old = fs::read_to_string(&path).ok()?.trim().parse().ok()?;
    // A value that a killed process left behind is no setting of the user.
    let old = OldNumber::keep(&path, if old == TIGHTEST { 0 } else { old });
    fs::write(&path, TIGHTEST.to_string()).ok()?;
    Some(old)
}

/// Has CPUs return pages until `ends` says so, or the lists become no shorter. A kernel without that
/// ignores the request.
///
/// Linux counterpart: `vmstat_refresh`, `decay_pcp_high`.
pub(super) fn drain(root: &Path, mut ends: impl FnMut() -> Result<bool, Failure>) -> Result<(), Failure> {
    let (file, started) = (root.join(STAT_REFRESH), Instant::now());
    let mut before = pages_on_lists(&read_zoneinfo(root)?);
    while started.elapsed() < MOST && !ends()? {
        for _ in 0..ASKED {
            if fs::read(&file).is_err() {
                return Ok(());
            }
        }
        let left = pages_on_lists(&read_zoneinfo(root)?);
        // Others fill lists meanwhile: a hundredth is no progress, but of very long ones.
        if left + (before / 100).min(PROGRESS) >= before {
            return Ok(());
        }
        before = left;
    }
    Ok(())
}
