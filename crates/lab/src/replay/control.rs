//! Progress and interruption of replays, for other threads.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The progress of replays, and a flag that interrupts them. Shared between replays and the threads that wait for them.
#[derive(Debug, Default)]
pub struct Control {
    interrupted: AtomicBool,
    planned: AtomicU64,
    followed: AtomicU64,
}

impl Control {
    /// Interrupts all replays: they fail with [`LabError::Interrupted`](crate::LabError::Interrupted) within about 65
    /// 536 events.
    pub fn interrupt(&self) {
        // The flag publishes no other data.
        self.interrupted.store(true, Ordering::Relaxed);
    }

    /// Returns true if replays were interrupted.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Adds events to the plan.
    pub fn plan(&self, events: u64) {
        self.planned.fetch_add(events, Ordering::Relaxed);
    }

    /// Returns the number of replayed and of planned events; approximate while replays run.
    pub fn progress(&self) -> (u64, u64) {
        (self.followed.load(Ordering::Relaxed), self.planned.load(Ordering::Relaxed))
    }

    /// Adds replayed events. Returns true if the replay continues.
    pub(super) fn goes_on(&self, events: usize) -> bool {
        self.followed.fetch_add(events as u64, Ordering::Relaxed);
        !self.is_interrupted()
    }
}
