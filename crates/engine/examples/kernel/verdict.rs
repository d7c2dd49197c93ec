//! The count of failed checks.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::serial::line;

/// The number of CPUs.
pub(crate) const CPUS: usize = 2;

static FAILURES: AtomicU64 = AtomicU64::new(0);

/// Counts and prints a failed check. Interrupts may call it.
pub(crate) fn must(holds: bool, what: &str) {
    if !holds {
        FAILURES.fetch_add(1, Ordering::Relaxed);
        line!("FAILED: {what}");
    }
}

/// Returns the number of failed checks.
pub(crate) fn failures() -> u64 {
    FAILURES.load(Ordering::Relaxed)
}
