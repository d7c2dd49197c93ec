//! Sorts events that come in another order than that of time.

use freehold_trace::Event;

use crate::error::Error;

/// The error for an event that is older than an event that was passed on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TooOld {
    /// How much older than the newest one.
    pub(crate) back_ns: u64,
    /// The newest time that was passed on.
    pub(crate) passed_ns: u64,
}

/// Keeps events until nothing older can follow.
///
/// Events of one time leave in the order in which they came.
///
/// Invariant: nothing in `pending` is older than `passed_ns`.
#[derive(Default, Debug)]
pub(crate) struct Reorder {
    pending: Vec<Event>,
    /// The oldest time in `pending`, if there is any.
    oldest_ns: Option<u64>,
    /// The newest time of any event.
    newest_ns: u64,
    /// The newest time that was passed on.
    passed_ns: u64,
}

impl Reorder {
    /// Returns the newest time of any event, 0 before the first.
    pub(crate) fn newest_ns(&self) -> u64 {
        self.newest_ns
    }

    /// Returns how many events are pending.
    pub(crate) fn len(&self) -> usize {
        self.pending.len()
    }

    /// Adds an event, unless a younger one was passed on.
    pub(crate) fn push(&mut self, event: Event) -> Result<(), TooOld> {
        if event.time_ns < self.passed_ns {
            return Err(TooOld { back_ns: self.newest_ns - event.time_ns, passed_ns: self.passed_ns });
        }
        self.newest_ns = self.newest_ns.max(event.time_ns);
        self.oldest_ns = Some(self.oldest_ns.map_or(event.time_ns, |oldest| oldest.min(event.time_ns)));
        self.pending.push(event);
        Ok(())
    }

    /// Passes on the events that are older than the newest one by more than `window_ns`, as soon as these
    /// reach back by twice as much, so that every sort passes on many.
    pub(crate) fn pass_window(
        &mut self,
        window_ns: u64,
        take: &mut dyn FnMut(Event) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Some(oldest_ns) = self.oldest_ns else { return Ok(()) };
        if self.newest_ns - oldest_ns <= window_ns.saturating_mul(2) {
            return Ok(());
        }
        self.pass_before(self.newest_ns.saturating_sub(window_ns), take)
    }

    /// Passes on the events that are older than `before_ns`.
    pub(crate) fn pass_before(
        &mut self,
        before_ns: u64,
        take: &mut dyn FnMut(Event) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.oldest_ns.is_none_or(|oldest| oldest >= before_ns) {
            return Ok(());
        }
        // This sort is stable, and fast on sorted runs, which each CPU's events are.
        self.pending.sort_by_key(|event| event.time_ns);
        let end = self.pending.partition_point(|event| event.time_ns < before_ns);
        self.oldest_ns = self.pending.get(end).map(|event| event.time_ns);
        for event in self.pending.drain(..end) {
            self.passed_ns = event.time_ns;
            take(event)?;
        }
        Ok(())
    }

    /// Passes on the events that are left.
    pub(crate) fn rest(&mut self, take: &mut dyn FnMut(Event) -> Result<(), Error>) -> Result<(), Error> {
        self.oldest_ns = None;
        self.pending.sort_by_key(|event| event.time_ns);
        self.pending.drain(..).try_for_each(take)
    }
}

#[cfg(test)]
mod tests {
    use freehold_trace::EventKind;

    use super::*;

    fn event(time_ns: u64, cpu: u16) -> Event {
        Event { time_ns, cpu, pid: 0, kind: EventKind::KswapdSleep }
    }

    #[test]
    fn events_leave_in_the_order_of_time_and_of_coming() {
        let mut reorder = Reorder::default();
        let mut out = Vec::new();
        for (time_ns, cpu) in [(5, 0), (3, 1), (5, 2), (9, 3), (3, 4)] {
            reorder.push(event(time_ns, cpu)).unwrap();
        }
        let mut take = |event: Event| {
            out.push((event.time_ns, event.cpu));
            Ok(())
        };
        reorder.pass_before(5, &mut take).unwrap();
        assert_eq!(reorder.push(event(2, 5)), Err(TooOld { back_ns: 7, passed_ns: 3 }));
        reorder.push(event(4, 6)).unwrap();
        reorder.rest(&mut take).unwrap();
        assert_eq!(out, [(3, 1), (3, 4), (4, 6), (5, 0), (5, 2), (9, 3)]);
    }

    #[test]
    fn a_window_holds_back_what_may_still_be_preceded() {
        let mut reorder = Reorder::default();
        let mut out = Vec::new();
        for time_ns in [100, 130, 111, 121, 160] {
            reorder.push(event(time_ns, 0)).unwrap();
            let mut take = |event: Event| {
                out.push(event.time_ns);
                Ok(())
            };
            reorder.pass_window(20, &mut take).unwrap();
        }
        assert_eq!(out, [100, 111, 121, 130]);
    }
}
