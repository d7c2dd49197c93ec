//! Sorts events that are nearly sorted.

use std::collections::VecDeque;

use freehold_trace::Event;

use crate::error::Error;

/// The error for an event that is older than an event that was passed on.
pub(super) struct TooOld {
    /// How much older than the newest one.
    pub(super) back_ns: u64,
}

/// Holds events back until the newest event is a window younger.
///
/// Invariant: `held` is sorted by time, and nothing in it is older than `passed_ns`.
pub(super) struct Reorder {
    held: VecDeque<Event>,
    window_ns: u64,
    passed_ns: u64,
}

impl Reorder {
    pub(super) fn new(window_ns: u64) -> Self {
        Self { held: VecDeque::new(), window_ns, passed_ns: 0 }
    }

    /// Adds an event. Passes on the events that no later event can precede.
    pub(super) fn push(
        &mut self,
        event: Event,
        take: &mut dyn FnMut(Event) -> Result<(), Error>,
    ) -> Result<Result<(), TooOld>, Error> {
        let newest_ns = self.held.back().map_or(self.passed_ns, |e| e.time_ns);
        if event.time_ns < self.passed_ns {
            return Ok(Err(TooOld { back_ns: newest_ns - event.time_ns }));
        }
        if event.time_ns >= newest_ns {
            self.held.push_back(event);
        } else {
            let at = self.held.partition_point(|e| e.time_ns <= event.time_ns);
            self.held.insert(at, event);
        }
        let keep_from_ns = newest_ns.max(event.time_ns).saturating_sub(self.window_ns);
        while let Some(event) = self.held.pop_front_if(|e| e.time_ns < keep_from_ns) {
            self.passed_ns = event.time_ns;
            take(event)?;
        }
        Ok(Ok(()))
    }

    /// Passes on the events that are left.
    pub(super) fn rest(&mut self, take: &mut dyn FnMut(Event) -> Result<(), Error>) -> Result<(), Error> {
        self.held.drain(..).try_for_each(take)
    }
}
