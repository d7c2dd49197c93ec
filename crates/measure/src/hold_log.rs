//! The times for which zone locks are held and waited for, and a receiver of the engine's events that measures them.

use std::cell::{Cell, Ref, RefCell};
use std::time::Instant;

use freehold::Tracepoints;

use crate::histogram::{ByPowerOfTwo, power_of_two};

/// The times of waits for a zone lock that another thread held.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Waits {
    /// The sum of all waits.
    pub total_ns: u64,
    /// The longest wait.
    pub longest_ns: u64,
}

/// The shortest time of each hold of a zone lock over several runs of the same work.
///
/// The work is deterministic, so the nth hold of one run does the same as the nth hold of the next. Noise of the
/// machine rarely delays the same hold in all runs. Therefore the shortest time of a hold over all runs is the time of
/// the hold itself.
#[derive(Clone, Debug, Default)]
pub struct HoldLog {
    shortest_ns: Vec<u32>,
    /// The number of the next hold in this run.
    next: usize,
    waits: Waits,
}

impl HoldLog {
    /// Begins a run. The first run clears the log.
    pub fn begin(&mut self, first_run: bool) {
        self.next = 0;
        self.waits = Waits::default();
        if first_run {
            self.shortest_ns.clear();
        }
    }

    /// Notes the next hold.
    pub fn note_hold(&mut self, hold_ns: u64) {
        let hold_ns = u32::try_from(hold_ns).unwrap_or(u32::MAX);
        match self.shortest_ns.get_mut(self.next) {
            Some(shortest) => *shortest = (*shortest).min(hold_ns),
            None => self.shortest_ns.push(hold_ns),
        }
        self.next += 1;
    }

    /// Notes a wait.
    pub fn note_wait(&mut self, waited_ns: u64) {
        self.waits.total_ns += waited_ns;
        self.waits.longest_ns = self.waits.longest_ns.max(waited_ns);
    }

    /// Returns the shortest time of each hold over all runs so far, in the order of the holds.
    ///
    /// Units: nanoseconds.
    pub fn holds_ns(&self) -> &[u32] {
        &self.shortest_ns
    }

    /// Returns the waits of the last run.
    pub fn waits(&self) -> Waits {
        self.waits
    }

    /// Returns the time of the longest hold.
    ///
    /// Units: nanoseconds.
    pub fn longest_ns(&self) -> u64 {
        self.shortest_ns.iter().copied().max().unwrap_or(0).into()
    }

    /// Returns the number of holds that lasted 2^n to 2^(n+1) − 1 nanoseconds, by n. A hold of 0 ns counts as 1 ns.
    pub fn by_power_of_two(&self) -> ByPowerOfTwo {
        let mut holds = ByPowerOfTwo::default();
        for &hold_ns in &self.shortest_ns {
            holds[power_of_two(hold_ns.into())] += 1;
        }
        holds
    }
}

/// A stopwatch. In WebAssembly, which has no clock, its time is always 0.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Option<Instant>);

impl Stopwatch {
    /// Returns a stopwatch that starts now.
    pub fn start() -> Self {
        Self(cfg!(not(target_family = "wasm")).then(Instant::now))
    }

    /// Returns the time since the start.
    ///
    /// Units: nanoseconds.
    #[inline]
    pub fn ns(&self) -> u64 {
        self.0.map_or(0, |start| start.elapsed().as_nanos() as u64)
    }
}

/// Times the holds of the zone locks of a memory that one thread uses.
///
/// A hold begins when the lock was taken, and ends just before it is released. Reads of lists and statistics for
/// outside observers are not holds. Nothing is noted before [`HoldTimer::begin`] and after [`HoldTimer::pause`].
#[derive(Debug)]
pub struct HoldTimer {
    stopwatch: Stopwatch,
    is_on: Cell<bool>,
    log: RefCell<HoldLog>,
}

impl Default for HoldTimer {
    fn default() -> Self {
        Self { stopwatch: Stopwatch::start(), is_on: Cell::new(false), log: RefCell::default() }
    }
}

impl HoldTimer {
    /// Begins a run, and notes its holds from now on. The first run clears the log.
    pub fn begin(&self, first_run: bool) {
        self.log.borrow_mut().begin(first_run);
        self.is_on.set(true);
    }

    /// Stops noting.
    pub fn pause(&self) {
        self.is_on.set(false);
    }

    /// Continues to note holds within the same run.
    pub fn resume(&self) {
        self.is_on.set(true);
    }

    /// Returns true while holds are noted.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.is_on.get()
    }

    /// Returns the stopwatch that times the holds.
    pub fn stopwatch(&self) -> Stopwatch {
        self.stopwatch
    }

    /// Returns the log. Nothing can be noted while it is borrowed.
    pub fn log(&self) -> Ref<'_, HoldLog> {
        self.log.borrow()
    }

    /// Returns the times of the holds from the hold with this number on.
    ///
    /// Units: nanoseconds.
    pub fn holds_since(&self, first: usize) -> Vec<u32> {
        self.log.borrow().holds_ns().get(first..).unwrap_or_default().to_vec()
    }
}

impl Tracepoints for HoldTimer {
    /// The time when the hold began, in nanoseconds; 0 while nothing is noted.
    type Since = u64;

    #[inline]
    fn zone_lock_acquired(&self) -> u64 {
        if self.is_on() { self.stopwatch.ns() } else { 0 }
    }

    #[inline]
    fn zone_lock_release(&self, since: u64, _touched: u64) {
        if self.is_on() {
            self.log.borrow_mut().note_hold(self.stopwatch.ns().saturating_sub(since));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_keeps_the_shortest_time_of_each_hold() {
        let mut log = HoldLog::default();
        log.begin(true);
        log.note_hold(500);
        log.note_hold(9_000);
        log.begin(false);
        log.note_hold(7_000);
        log.note_hold(800);
        assert_eq!((log.holds_ns(), log.longest_ns()), (&[500, 800][..], 800));
        assert_eq!(log.by_power_of_two()[8..10], [1, 1]);
        log.begin(true);
        assert_eq!((log.longest_ns(), log.waits()), (0, Waits::default()));
    }

    #[test]
    fn log_keeps_the_waits_of_the_last_run() {
        let mut log = HoldLog::default();
        log.note_wait(50);
        log.begin(false);
        log.note_wait(7);
        log.note_wait(5);
        assert_eq!(log.waits(), Waits { total_ns: 12, longest_ns: 7 });
    }

    #[test]
    fn holds_are_noted_between_begin_and_pause() {
        let timer = HoldTimer::default();
        let hold = || timer.zone_lock_release(timer.zone_lock_acquired(), 1);
        hold();
        timer.begin(true);
        hold();
        timer.pause();
        hold();
        timer.resume();
        hold();
        assert_eq!((timer.holds_since(0).len(), timer.holds_since(1).len()), (2, 1));
        assert!(timer.holds_since(2).is_empty());
    }
}
