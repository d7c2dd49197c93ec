//! One live test at a time.

use std::sync::{Mutex, MutexGuard, PoisonError};

static ALONE: Mutex<()> = Mutex::new(());

/// Waits until no other test of this program measures or changes the machine, and keeps the others off until the guard is dropped.
///
/// Forecasts, recordings and watches hold for a machine on which no other test takes memory.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    // A test that failed has given its memory back.
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}
