//! The events of all CPUs in the order of time.

use freehold_trace::Event;

use crate::error::Error;
use crate::sink::EventSink;

/// Holds events back until no older one can follow.
///
/// Invariant: what `release` passed on is never younger than what it passes on later.
#[derive(Default, Debug)]
pub(crate) struct Merger {
    held: Vec<Event>,
    newest_ns: u64,
    late: u64,
}

impl Merger {
    /// Takes an event; those of one CPU come in the order of time.
    pub(super) fn push(&mut self, event: Event) {
        self.held.push(event);
    }

    /// Passes on everything older than `cutoff_ns`.
    ///
    /// An event that is older than what was passed on before gets that one's time.
    pub(crate) fn release(&mut self, cutoff_ns: u64, sink: &mut dyn EventSink) -> Result<(), Error> {
        // Stable, and quick on the sorted runs that the CPUs are.
        self.held.sort_by_key(|e| e.time_ns);
        let ready = self.held.partition_point(|e| e.time_ns < cutoff_ns);
        for event in self.held.drain(..ready) {
            self.late += u64::from(event.time_ns < self.newest_ns);
            self.newest_ns = self.newest_ns.max(event.time_ns);
            sink.push(Event { time_ns: self.newest_ns, ..event }).map_err(Error::Sink)?;
        }
        Ok(())
    }

    /// How many events are held back.
    pub(crate) fn held(&self) -> usize {
        self.held.len()
    }

    /// Events that came after younger ones had been passed on.
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
