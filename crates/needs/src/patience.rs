//! Waiting for what comes sooner or later.

use std::thread;
use std::time::{Duration, Instant};

/// How long anything may take before a test gives up: machines that test are busy.
pub const PATIENCE: Duration = Duration::from_mins(2);

/// Tries until `found` answers something.
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
