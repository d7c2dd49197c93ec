//! The receiver of recorded and imported events.

use freehold_trace::{Ending, Event, Origin, Snapshot};

use crate::error::SinkError;

/// Receives a trace: `begin` once, then events in the order of time, then `end` once.
pub trait EventSink {
    /// Receives what is known at the start. Called once, before everything else.
    fn begin(&mut self, origin: &Origin, start: &Snapshot) -> Result<(), SinkError>;

    /// Receives the next event, which is not older than the event before it.
    fn push(&mut self, event: Event) -> Result<(), SinkError>;

    /// Makes durable what was received so far. Called about once a second.
    fn flush(&mut self) -> Result<(), SinkError>;

    /// Receives what is known only at the end. Called once, after everything else.
    fn end(&mut self, ending: &Ending) -> Result<(), SinkError>;

    /// Returns the size that the file has with what was received so far; `None` if the sink cannot
    /// tell.
    ///
    /// Units: bytes.
    fn bytes(&self) -> Option<u64> {
        None
    }

    /// Returns true if the sink asks for a call of [`Self::restart`].
    fn wants_snapshot(&self) -> bool {
        false
    }

    /// Receives a new snapshot to start from. Every later event is not older than the start of the
    /// snapshot's reading.
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
