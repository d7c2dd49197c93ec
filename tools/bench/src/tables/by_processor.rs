//! Times of a contended zone lock by the processor that each thread is pinned to.

use freehold::Tracepoints;
use freehold_measure::{HoldLog, Stopwatch};
use rustix::thread::sched_getcpu;

/// Records the holds of a zone lock and the waits for it, by processor.
///
/// A hold lasts from taking the lock until just before its release; a wait starts when the lock was found
/// taken. Recording takes some tens of nanoseconds after the end of each, still under the lock.
#[derive(Debug)]
pub(super) struct ByProcessor {
    stopwatch: Stopwatch,
    /// The logs by index of the processor; `None` while nothing is recorded.
    logs: Vec<spin::Mutex<Option<HoldLog>>>,
}

impl ByProcessor {
    /// Returns a recorder for threads that are pinned to these processors.
    pub(super) fn new(processors: &[usize]) -> Self {
        let last = processors.iter().copied().max().unwrap_or(0);
        Self { stopwatch: Stopwatch::start(), logs: (0..=last).map(|_| spin::Mutex::new(None)).collect() }
    }

    /// Starts to record the thread on a processor.
    pub(super) fn begin(&self, processor: usize) {
        *self.logs[processor].lock() = Some(HoldLog::default());
    }

    /// Stops recording, and returns the log of the thread on a processor.
    pub(super) fn end(&self, processor: usize) -> HoldLog {
        self.logs[processor].lock().take().unwrap_or_default()
    }

    /// Calls `note` with the log of this thread's processor and the time since `since`.
    fn note(&self, since: u64, note: impl FnOnce(&mut HoldLog, u64)) {
        let ns = self.stopwatch.ns().saturating_sub(since);
        if let Some(log) = self.logs.get(sched_getcpu())
            && let Some(log) = &mut *log.lock()
        {
            note(log, ns);
        }
    }
}

impl Tracepoints for ByProcessor {
    const WATCHES_CONTENTION: bool = true;

    /// The start of the hold or the wait in nanoseconds.
    type Since = u64;

    fn contention_begin(&self) -> u64 {
        self.stopwatch.ns()
    }

    fn contention_end(&self, since: u64) {
        self.note(since, HoldLog::note_wait);
    }

    fn zone_lock_acquired(&self) -> u64 {
        self.stopwatch.ns()
    }

    fn zone_lock_release(&self, since: u64, _touched: u64) {
        self.note(since, HoldLog::note_hold);
    }
}
