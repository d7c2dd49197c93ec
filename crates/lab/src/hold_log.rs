//! How long each hold of a zone lock lasted on this thread: the lab's only clock.
//!
//! A replay is deterministic, so the nth hold of one run does the same as the nth hold of
//! the next. What a noisy machine adds to one run it rarely adds to the same hold of
//! another: the shortest time of each hold over all runs is what the hold itself takes,
//! and the longest of those is reported.

use std::cell::{Cell, RefCell};
use std::sync::LazyLock;
use std::time::Instant;

use freehold_measure::histogram::{ByPowerOfTwo, power_of_two};

static BASE: LazyLock<Instant> = LazyLock::new(Instant::now);

thread_local! {
    static RECORDING: Cell<bool> = const { Cell::new(false) };
    static WAITS: Cell<Waits> = const { Cell::new(Waits { total_ns: 0, longest_ns: 0 }) };
    static LOG: RefCell<HoldLog> = const { RefCell::new(HoldLog { shortest_ns: Vec::new(), next: 0 }) };
}

/// The shortest time of each hold over all runs so far.
struct HoldLog {
    shortest_ns: Vec<u32>,
    /// Number of the next hold in this run.
    next: usize,
}

/// How long this thread waited for zone locks that others held.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Waits {
    /// All waits together.
    pub total_ns: u64,
    /// The longest of them.
    pub longest_ns: u64,
}

/// Whether this thread's holds are recorded now.
pub(crate) fn is_recording() -> bool {
    RECORDING.get()
}

/// The time for a hold that starts now; 0 while nothing is recorded.
pub(crate) fn now_ns() -> u64 {
    if RECORDING.get() { stopwatch_ns() } else { 0 }
}

/// Time passed since some fixed moment.
pub(crate) fn stopwatch_ns() -> u64 {
    BASE.elapsed().as_nanos() as u64
}

/// Notes a hold that started at `taken_ns` and ends now.
pub(crate) fn note_since(taken_ns: u64) {
    if RECORDING.get() {
        note(u32::try_from(stopwatch_ns().saturating_sub(taken_ns)).unwrap_or(u32::MAX));
    }
}

/// Notes a wait that started at `since_ns` and ends now.
pub(crate) fn note_wait_since(since_ns: u64) {
    if RECORDING.get() {
        let waited_ns = stopwatch_ns().saturating_sub(since_ns);
        let Waits { total_ns, longest_ns } = WAITS.get();
        WAITS.set(Waits { total_ns: total_ns + waited_ns, longest_ns: longest_ns.max(waited_ns) });
    }
}

fn note(held_ns: u32) {
    LOG.with_borrow_mut(|log| {
        match log.shortest_ns.get_mut(log.next) {
            Some(shortest) => *shortest = (*shortest).min(held_ns),
            None => log.shortest_ns.push(held_ns),
        }
        log.next += 1;
    });
}

/// Starts a run; the first one forgets what this thread recorded before.
pub fn start(first_run: bool) {
    WAITS.set(Waits::default());
    LOG.with_borrow_mut(|log| {
        log.next = 0;
        if first_run {
            log.shortest_ns.clear();
        }
    });
    RECORDING.set(true);
}

/// Stops or goes on recording within a run.
pub fn record(on: bool) {
    RECORDING.set(on);
}

/// The shortest time of each hold over all runs so far, in the order of the holds.
///
/// Units: nanoseconds.
pub fn holds_ns() -> Vec<u32> {
    LOG.with_borrow(|log| log.shortest_ns.clone())
}

/// The same from the hold with this number on.
///
/// Units: nanoseconds.
pub fn holds_since(first: usize) -> Vec<u32> {
    LOG.with_borrow(|log| log.shortest_ns.get(first..).unwrap_or_default().to_vec())
}

/// The waits of the last run.
pub fn waits() -> Waits {
    WAITS.get()
}

/// The longest of all holds.
///
/// Units: nanoseconds.
pub(crate) fn longest_ns() -> u64 {
    LOG.with_borrow(|log| log.shortest_ns.iter().copied().max().unwrap_or(0).into())
}

/// How many holds lasted 2^n to 2^(n+1) − 1 nanoseconds, by n; those of none count as of one.
pub(crate) fn by_power_of_two() -> ByPowerOfTwo {
    LOG.with_borrow(|log| {
        let mut holds = ByPowerOfTwo::default();
        for &held_ns in &log.shortest_ns {
            holds[power_of_two(held_ns.into())] += 1;
        }
        holds
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_time_of_each_hold_is_kept() {
        start(true);
        note(500);
        note(9_000);
        start(false);
        note(7_000);
        note(800);
        record(false);
        note_since(0);
        assert_eq!(longest_ns(), 800);
        assert_eq!((holds_since(0), holds_since(1), holds_since(2)), (vec![500, 800], vec![800], vec![]));
        start(true);
        assert_eq!(longest_ns(), 0);
        record(false);
    }
}
