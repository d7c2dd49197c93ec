//! A sink that writes a trace file.

use std::io::Write;

use freehold_trace::{Ending, Event, Origin, Snapshot, TraceWriter, WriteOptions};

use super::event_sink::EventSink;
use crate::error::SinkError;

/// Writes a trace file.
pub struct TraceSink<W: Write> {
    /// The target; `None` after `begin`.
    target: Option<(W, WriteOptions)>,
    /// The writer; `None` before `begin` and after `end`.
    writer: Option<TraceWriter<W>>,
}

impl<W: Write> TraceSink<W> {
    /// Returns a sink that writes the trace to `target`.
    pub fn new(target: W, options: WriteOptions) -> Self {
        Self { target: Some((target, options)), writer: None }
    }

    fn writer(&mut self) -> Result<&mut TraceWriter<W>, SinkError> {
        self.writer.as_mut().ok_or_else(|| "the trace has not begun or has ended".into())
    }
}

impl<W: Write> EventSink for TraceSink<W> {
    fn begin(&mut self, origin: &Origin, start: &Snapshot) -> Result<(), SinkError> {
        let (target, options) = self.target.take().ok_or("the trace has begun before")?;
        self.writer = Some(TraceWriter::create(target, options, origin, start)?);
        Ok(())
    }

    fn push(&mut self, event: Event) -> Result<(), SinkError> {
        Ok(self.writer()?.push(&event)?)
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        Ok(self.writer()?.flush()?)
    }

    fn end(&mut self, ending: &Ending) -> Result<(), SinkError> {
        let writer = self.writer.take().ok_or("the trace has not begun or has ended")?;
        writer.finish(ending)?;
        Ok(())
    }

    fn bytes(&self) -> Option<u64> {
        // An event takes about four bytes, at most about eight.
        self.writer.as_ref().map(|writer| writer.bytes() + 8 * writer.pending_events() as u64)
    }
}
