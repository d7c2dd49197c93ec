//! Waits for a condition.

use std::thread;
use std::time::{Duration, Instant};

/// The time after which a test gives up. It is long, because test machines are busy.
pub const PATIENCE: Duration = Duration::from_mins(2);

/// Calls `found` until it returns a value, and returns the value. `what` names it.
///
/// # Panics
/// If there is no value within [`PATIENCE`].
#[track_caller]
pub fn wait_for<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "{what} did not come");
        thread::sleep(Duration::from_millis(20));
    }
}
