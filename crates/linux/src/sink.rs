//! Where recorded and imported events go.

use std::io::Write;

use freehold_trace::{Ending, Event, Origin, Snapshot, TraceWriter, WriteOptions};

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

    /// How large what was taken will be as a file, where that can be told.
    ///
    /// Units: bytes.
    fn bytes(&self) -> Option<u64> {
        None
    }

    /// Whether the sink would like to start over from the machine's state now.
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

/// Writes a trace file.
pub struct TraceSink<W: Write> {
    /// Until `begin`.
    target: Option<(W, WriteOptions)>,
    /// From `begin` to `end`.
    writer: Option<TraceWriter<W>>,
}

impl<W: Write> TraceSink<W> {
    /// A sink that writes the trace to `target`.
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
        // An event takes some four bytes, and in a bad case twice that.
        self.writer.as_ref().map(|writer| writer.bytes() + 8 * writer.pending_events() as u64)
    }
}
