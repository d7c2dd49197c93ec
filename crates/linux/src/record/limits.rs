//! The limits that end a recording before its command ends or its user stops it.

use std::time::Instant;

use freehold_trace::StoppedBy;

use super::options::RecordOptions;
use crate::tracefs::Tally;

/// Bytes reserved for the ending, and as many for each CPU, as the end snapshot lists per-CPU lists.
const ENDING_BYTES: u64 = 64 << 10;
const ENDING_BYTES_PER_CPU: u64 = 2 << 10;

/// The most bytes of an event; four are usual.
const EVENT_BYTES: u64 = 8;

/// The most time between the decision to end and the end.
///
/// Units: seconds.
const AFTERMATH_S: f64 = 0.25;

/// The limits of a recording, and how close they are.
pub(super) struct Limits<'o> {
    options: &'o RecordOptions,
    cpus: u64,
    looked: Instant,
    events: u64,
    /// The highest event rate so far.
    peak_per_s: f64,
}

impl<'o> Limits<'o> {
    pub(super) fn new(options: &'o RecordOptions, cpus: u64) -> Self {
        Self { options, cpus, looked: Instant::now(), events: 0, peak_per_s: 0.0 }
    }

    /// Returns the limit that was reached, with what was measured if it is a trigger.
    ///
    /// `pending` events were read but not passed to the sink yet, which holds `bytes`.
    pub(super) fn reached(
        &mut self,
        tally: Tally,
        pending: usize,
        bytes: Option<u64>,
    ) -> Option<(StoppedBy, Option<String>)> {
        let seconds = self.looked.elapsed().as_secs_f64();
        if seconds > 0.02 {
            self.peak_per_s = self.peak_per_s.max((tally.events - self.events) as f64 / seconds);
            (self.looked, self.events) = (Instant::now(), tally.events);
        }
        if let (Some(wanted), Some(failed)) = (self.options.until_failure, tally.failed)
            && failed >= wanted
        {
            return Some((StoppedBy::Trigger, Some(format!("a request of order {failed} failed"))));
        }
        if self.options.max_events.is_some_and(|most| tally.events >= most) {
            return Some((StoppedBy::MaxEvents, None));
        }
        let reserve = ENDING_BYTES + ENDING_BYTES_PER_CPU * self.cpus;
        let to_come = pending as u64 + (self.peak_per_s * AFTERMATH_S) as u64;
        let at_end = bytes.map(|bytes| bytes + reserve + EVENT_BYTES * to_come);
        match (self.options.max_bytes, at_end) {
            (Some(most), Some(bytes)) if bytes >= most => Some((StoppedBy::MaxSize, None)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use freehold::Order;

    use super::*;

    fn tally(events: u64) -> Tally {
        Tally { events, ..Tally::default() }
    }

    #[test]
    fn the_file_stays_below_its_limit() {
        let options = RecordOptions { max_bytes: Some(1 << 20), ..RecordOptions::default() };
        let mut limits = Limits::new(&options, 2);
        assert_eq!(limits.reached(tally(0), 0, Some(1 << 19)), None);
        assert_eq!(limits.reached(tally(0), 0, None), None, "a sink of unknown size has no limit");
        let pending = limits.reached(tally(0), 100_000, Some(1 << 19));
        assert_eq!(pending, Some((StoppedBy::MaxSize, None)), "what is on its way counts");
        assert_eq!(limits.reached(tally(0), 0, Some(1 << 20)), Some((StoppedBy::MaxSize, None)));
    }

    #[test]
    fn events_and_failures_end_it() {
        let options =
            RecordOptions { max_events: Some(10), until_failure: Order::new(4), ..RecordOptions::default() };
        let mut limits = Limits::new(&options, 1);
        let failed = |order| Tally { failed: Order::new(order), ..tally(1) };
        assert_eq!(limits.reached(failed(3), 0, None), None);
        let (by, seen) = limits.reached(failed(9), 0, None).unwrap();
        assert_eq!((by, seen.as_deref()), (StoppedBy::Trigger, Some("a request of order 9 failed")));
        assert_eq!(limits.reached(tally(10), 0, None), Some((StoppedBy::MaxEvents, None)));
    }
}
