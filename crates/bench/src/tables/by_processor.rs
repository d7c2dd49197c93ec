//! Times of a zone lock that several threads take, by the processor that each thread is pinned to.

use freehold::Tracepoints;
use freehold_measure::{HoldLog, Stopwatch};
use rustix::thread::sched_getcpu;

/// Times the holds of a zone lock and the waits for it, by processor.
///
/// A hold begins when the lock has been taken, or waited for, and ends right before it is released; a wait
/// begins when the lock was found held. Noting it down, some tens of nanoseconds, is behind the end of each
/// and still under the lock.
#[derive(Debug)]
pub(super) struct ByProcessor {
    stopwatch: Stopwatch,
    /// By number of the processor; `None` while nothing is noted there.
    logs: Vec<spin::Mutex<Option<HoldLog>>>,
}

impl ByProcessor {
    /// Returns a watcher of threads that are pinned to these processors.
    pub(super) fn new(processors: &[usize]) -> Self {
        let last = processors.iter().copied().max().unwrap_or(0);
        Self { stopwatch: Stopwatch::start(), logs: (0..=last).map(|_| spin::Mutex::new(None)).collect() }
    }

    /// Notes from now on what the thread on a processor does.
    pub(super) fn begin(&self, processor: usize) {
        *self.logs[processor].lock() = Some(HoldLog::default());
    }

    /// Stops noting, and returns what the thread on a processor did.
    pub(super) fn end(&self, processor: usize) -> HoldLog {
        self.logs[processor].lock().take().unwrap_or_default()
    }

    /// Lets `note` write down the time since `since` for the processor that this thread is on.
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

    /// When the hold or the wait began, in nanoseconds.
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
