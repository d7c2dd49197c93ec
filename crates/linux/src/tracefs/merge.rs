//! Merges the events of all CPUs in the order of time.

use freehold_trace::Event;

use crate::error::Error;
use crate::reorder::{Reorder, TooOld};
use crate::sink::EventSink;

/// Holds events back until no older one can follow, and gives those that are late all the same a later time.
#[derive(Default, Debug)]
pub(crate) struct Merger {
    pending: Reorder,
    late: u64,
}

impl Merger {
    /// Adds an event. The events of each CPU must come in the order of time.
    ///
    /// An event that is older than the last released one gets the time of that one.
    pub(super) fn push(&mut self, event: Event) {
        if let Err(TooOld { passed_ns, .. }) = self.pending.push(event) {
            self.late += 1;
            let again = self.pending.push(Event { time_ns: passed_ns, ..event });
            debug_assert!(again.is_ok(), "an event of that time is not too old");
        }
    }

    /// Passes on every event older than `cutoff_ns`.
    pub(crate) fn release(&mut self, cutoff_ns: u64, sink: &mut dyn EventSink) -> Result<(), Error> {
        self.pending.pass_before(cutoff_ns, &mut |event| sink.push(event).map_err(Error::Sink))
    }

    /// Returns how many events are pending.
    pub(crate) fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Returns how many events came after a younger event was released.
    pub(crate) fn late(&self) -> u64 {
        self.late
    }
}

#[cfg(test)]
mod tests {
    use freehold_trace::EventKind;

    use super::*;
    use crate::sink::MemorySink;

    fn event(time_ns: u64, cpu: u16) -> Event {
        Event { time_ns, cpu, pid: 0, kind: EventKind::Lost { count: 1 } }
    }

    #[test]
    fn time_never_goes_back() {
        let mut merger = Merger::default();
        let mut sink = MemorySink::default();
        for time in [10, 20, 30] {
            merger.push(event(time, 0));
        }
        for time in [15, 20, 40] {
            merger.push(event(time, 1));
        }
        merger.release(30, &mut sink).unwrap();
        assert_eq!(sink.events.len(), 4);
        merger.push(event(17, 1));
        merger.release(u64::MAX, &mut sink).unwrap();
        let order: Vec<_> = sink.events.iter().map(|e| (e.time_ns, e.cpu)).collect();
        assert_eq!(order, [(10, 0), (15, 1), (20, 0), (20, 1), (20, 1), (30, 0), (40, 1)]);
        assert_eq!(merger.late(), 1);
    }
}
