//! A sink that keeps a trace in memory.

use freehold_trace::{Ending, Event, Origin, Snapshot};

use super::event_sink::EventSink;
use crate::error::SinkError;

/// Keeps a trace in memory.
#[derive(Default, Debug)]
pub struct MemorySink {
    /// The origin from `begin`.
    pub origin: Option<Origin>,
    /// The snapshot from `begin`.
    pub start: Option<Snapshot>,
    /// Every event.
    pub events: Vec<Event>,
    /// The number of calls of `flush`.
    pub flushes: u64,
    /// The ending from `end`.
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
