//! What went wrong so far.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::serial::line;

/// The number of CPUs.
pub(crate) const CPUS: usize = 2;

static FAILURES: AtomicU64 = AtomicU64::new(0);

/// Notes and prints what does not hold. Interrupts may call it.
pub(crate) fn must(holds: bool, what: &str) {
    if !holds {
        FAILURES.fetch_add(1, Ordering::Relaxed);
        line!("FAILED: {what}");
    }
}

/// Returns the number of checks that did not hold.
pub(crate) fn failures() -> u64 {
    FAILURES.load(Ordering::Relaxed)
}
