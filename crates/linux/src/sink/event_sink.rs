//! What takes recorded and imported events.

use freehold_trace::{Ending, Event, Origin, Snapshot};

use crate::error::SinkError;

/// Takes a trace piece by piece: once `begin`, events in the order of time, once `end`.
pub trait EventSink {
    /// Takes what is known at the start. Called once, before all else.
    fn begin(&mut self, origin: &Origin, start: &Snapshot) -> Result<(), SinkError>;

    /// Takes the next event, which is never older than the one before it.
    fn push(&mut self, event: Event) -> Result<(), SinkError>;

    /// Makes durable what was taken so far. Called about once a second.
    fn flush(&mut self) -> Result<(), SinkError>;

    /// Takes what is known only at the end. Called once, after all else.
    fn end(&mut self, ending: &Ending) -> Result<(), SinkError>;

    /// The size of the file that what was taken so far will make; `None` where the sink cannot tell.
    ///
    /// Units: bytes.
    fn bytes(&self) -> Option<u64> {
        None
    }

    /// Returns true if the sink wants to start over from the machine's state now.
    fn wants_snapshot(&self) -> bool {
        false
    }

    /// Takes the machine's state at `start`; every event that comes later is not older than the moment at which
    /// the recorder began to read it.
    fn restart(&mut self, _start: &Snapshot) -> Result<(), SinkError> {
        Ok(())
    }
}

impl<S: EventSink + ?Sized> EventSink for &mut S {
    fn begin(&mut self, origin: &Origin, start: &Snapshot) -> Result<(), SinkError> {
        (**self).begin(origin, start)
    }

    fn push(&mut self, event: Event) -> Result<(), SinkError> {
        (**self).push(event)
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        (**self).flush()
    }

    fn end(&mut self, ending: &Ending) -> Result<(), SinkError> {
        (**self).end(ending)
    }

    fn bytes(&self) -> Option<u64> {
        (**self).bytes()
    }

    fn wants_snapshot(&self) -> bool {
        (**self).wants_snapshot()
    }

    fn restart(&mut self, start: &Snapshot) -> Result<(), SinkError> {
        (**self).restart(start)
    }
}
