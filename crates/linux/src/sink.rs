//! Where recorded and imported events go.

use freehold_trace::{Ending, Event, Origin, Snapshot};

use crate::error::SinkError;

/// Takes a trace piece by piece: once `begin`, events in the order of time, once `end`.
pub trait EventSink {
    /// Takes what is known at the start. Called once, before all else.
    fn begin(&mut self, origin: &Origin, start: &Snapshot) -> Result<(), SinkError>;

    /// Takes the next event, which is never older than the one before it.
    fn push(&mut self, event: Event) -> Result<(), SinkError>;

    /// Makes what was taken so far durable. Called about once a second.
    fn flush(&mut self) -> Result<(), SinkError>;

    /// Takes what is known only at the end. Called once, after all else.
    fn end(&mut self, ending: &Ending) -> Result<(), SinkError>;
}

/// Keeps a trace in memory.
#[derive(Default, Debug)]
pub struct MemorySink {
    /// What `begin` brought.
    pub origin: Option<Origin>,
    /// What `begin` brought.
    pub start: Option<Snapshot>,
    /// Every event.
    pub events: Vec<Event>,
    /// How often `flush` was called.
    pub flushes: u64,
    /// What `end` brought.
    pub ending: Option<Ending>,
}

impl EventSink for MemorySink {
    fn begin(&mut self, origin: &Origin, start: &Snapshot) -> Result<(), SinkError> {
        self.origin = Some(origin.clone());
        self.start = Some(start.clone());
        Ok(())
    }

    fn push(&mut self, event: Event) -> Result<(), SinkError> {
        self.events.push(event);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        self.flushes += 1;
        Ok(())
    }

    fn end(&mut self, ending: &Ending) -> Result<(), SinkError> {
        self.ending = Some(ending.clone());
        Ok(())
    }
}
