//! Where a generated trace goes.

use std::io::Write;

use freehold_trace::{Ending, Event, EventLog, Origin, Snapshot, TraceError, TraceWriter, WriteOptions};

use crate::error::LabError;
use crate::trace::Trace;

/// Takes a trace piece by piece: `begin` once, then events in order of time, then `end` once.
pub(super) trait Target {
    type Error: From<LabError>;

    fn begin(&mut self, origin: &Origin, start: &Snapshot) -> Result<(), Self::Error>;
    fn events(&mut self, events: &[Event]) -> Result<(), Self::Error>;
    fn end(&mut self, ending: &Ending) -> Result<(), Self::Error>;
}

/// Why a trace was not generated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// The plan cannot be carried out.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// The trace cannot be written.
    #[error(transparent)]
    Trace(#[from] TraceError),
}

/// What was generated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Generation {
    /// Events.
    pub events: u64,
    /// Nanoseconds from the first snapshot to the last.
    pub time_ns: u64,
}

/// A generated trace in memory.
#[derive(Clone, Debug, Default)]
pub struct Generated {
    /// Where it comes from.
    pub origin: Origin,
    /// The machine at the start.
    pub start: Snapshot,
    /// The events.
    pub events: EventLog,
    /// The machine at the end.
    pub ending: Ending,
}

impl Generated {
    /// Returns the trace for a replay.
    pub fn trace(&self) -> Trace<'_> {
        Trace { origin: &self.origin, start: &self.start, events: &self.events, ending: Some(&self.ending) }
    }
}

impl Target for Generated {
    type Error = LabError;

    fn begin(&mut self, origin: &Origin, start: &Snapshot) -> Result<(), LabError> {
        (self.origin, self.start) = (origin.clone(), start.clone());
        Ok(())
    }

    fn events(&mut self, events: &[Event]) -> Result<(), LabError> {
        self.events.extend(events.iter().copied());
        Ok(())
    }

    fn end(&mut self, ending: &Ending) -> Result<(), LabError> {
        self.ending = ending.clone();
        Ok(())
    }
}

enum Stage<W> {
    Waiting(W, WriteOptions),
    Writing(Box<TraceWriter<W>>),
    Done(W),
    Broken,
}

/// Writes a trace into a sink.
pub(super) struct Written<W> {
    stage: Stage<W>,
    start_ns: u64,
    generation: Option<Generation>,
}

impl<W: Write> Written<W> {
    pub(super) fn new(sink: W, options: WriteOptions) -> Self {
        Self { stage: Stage::Waiting(sink, options), start_ns: 0, generation: None }
    }

    /// Returns the sink and what was written; an error if the trace was not ended.
    pub(super) fn finish(self) -> Result<(W, Generation), GenerateError> {
        match (self.stage, self.generation) {
            (Stage::Done(sink), Some(generation)) => Ok((sink, generation)),
            _ => Err(LabError::Stopped.into()),
        }
    }
}

impl<W: Write> Target for Written<W> {
    type Error = GenerateError;

    fn begin(&mut self, origin: &Origin, start: &Snapshot) -> Result<(), GenerateError> {
        if let Stage::Waiting(sink, options) = std::mem::replace(&mut self.stage, Stage::Broken) {
            self.start_ns = start.time_ns;
            self.stage = Stage::Writing(Box::new(TraceWriter::create(sink, options, origin, start)?));
        }
        Ok(())
    }

    fn events(&mut self, events: &[Event]) -> Result<(), GenerateError> {
        if let Stage::Writing(writer) = &mut self.stage {
            events.iter().try_for_each(|event| writer.push(event))?;
        }
        Ok(())
    }

    fn end(&mut self, ending: &Ending) -> Result<(), GenerateError> {
        if let Stage::Writing(writer) = std::mem::replace(&mut self.stage, Stage::Broken) {
            let end_ns = ending.snapshot.as_ref().map_or(self.start_ns, |end| end.time_ns);
            let time_ns = end_ns.saturating_sub(self.start_ns);
            self.generation = Some(Generation { events: writer.events(), time_ns });
            self.stage = Stage::Done(writer.finish(ending)?);
        }
        Ok(())
    }
}
