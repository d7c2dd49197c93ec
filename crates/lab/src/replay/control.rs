//! What another thread sees of replays, and how it ends them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How far replays are, and whether they are to end before their time. Threads that wait for replays share it with them.
#[derive(Debug, Default)]
pub struct Control {
    interrupted: AtomicBool,
    planned: AtomicU64,
    followed: AtomicU64,
}

impl Control {
    /// Asks all replays to end: they fail with [`LabError::Interrupted`](crate::LabError::Interrupted) within some 65 536
    /// events.
    pub fn interrupt(&self) {
        // Nothing else is passed on by the flag.
        self.interrupted.store(true, Ordering::Relaxed);
    }

    /// Returns true if replays are to end.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Adds events that will be followed.
    pub fn plan(&self, events: u64) {
        self.planned.fetch_add(events, Ordering::Relaxed);
    }

    /// Returns the events that were followed, and those that were planned so far; approximate while replays run.
    pub fn progress(&self) -> (u64, u64) {
        (self.followed.load(Ordering::Relaxed), self.planned.load(Ordering::Relaxed))
    }

    /// Adds events that were followed. Returns true if the replay goes on.
    pub(super) fn goes_on(&self, events: usize) -> bool {
        self.followed.fetch_add(events as u64, Ordering::Relaxed);
        !self.is_interrupted()
    }
}
