//! The writer of traces.

use std::io::{self, Write};

use arrow_schema::ArrowError;
use freehold::Order;

use super::encode::Encoder;
use crate::format::{
    self, Closing, Column, MAX_BATCH_ROWS, MAX_METADATA_BYTES, MAX_NOTE_BYTES, MAX_RUNS, Place, Row,
    TraceError, Zones, check_run, check_snapshot,
};
use crate::model::{Ending, Event, Origin, Snapshot};

/// The options of writing a trace.
#[derive(Clone, Debug)]
pub struct WriteOptions {
    /// Name of the file, for error messages.
    pub file: String,
    /// zstd level, 1 (fast) to 22 (small).
    pub level: i32,
    /// Rows in a full record batch, at most 1 048 576.
    pub batch_rows: usize,
}

impl WriteOptions {
    /// Returns options for recording: level 3, 65 536 rows a batch.
    pub fn new(file: impl Into<String>) -> Self {
        Self { file: file.into(), level: 3, batch_rows: 1 << 16 }
    }

    /// Returns options for keeping a trace: level 19, 1 048 576 rows a batch.
    pub fn small(file: impl Into<String>) -> Self {
        Self { file: file.into(), level: 19, batch_rows: MAX_BATCH_ROWS }
    }
}

/// A writer of a trace.
///
/// Every record batch is written by one `write_all` of complete messages. If the process is killed between two of them,
/// the file can be read up to there. A writer that is dropped without [`Self::finish`] loses the events since the last
/// [`Self::flush`], and leaves a file without an ending.
pub struct TraceWriter<W> {
    sink: W,
    options: WriteOptions,
    encoder: Encoder,
    zones: Zones,
    /// The rows of the unfinished batch.
    pending: Vec<Row>,
    /// The bytes that are being written.
    outgoing: Vec<u8>,
    /// The numbers of record batches, rows, events and bytes written.
    batches: u64,
    rows: u64,
    bytes: u64,
    crc: crc32fast::Hasher,
    events: u64,
    last_time_ns: u64,
    /// True after a write failed. The sink may have half a message, so nothing may follow.
    broken: bool,
}

impl<W: Write> TraceWriter<W> {
    /// Writes the header and the occupancy of `start`.
    ///
    /// # Errors
    ///
    /// `Corrupt` if `start` contradicts itself (a zone ends behind the last frame, or occupancy runs are not
    /// ascending). `Io` if writing fails.
    pub fn create(
        sink: W,
        mut options: WriteOptions,
        origin: &Origin,
        start: &Snapshot,
    ) -> Result<Self, TraceError> {
        options.batch_rows = options.batch_rows.clamp(1, MAX_BATCH_ROWS);
        options.level = options.level.clamp(1, 22);
        let place = Place { file: &options.file, batch: 0, row: 0 };
        let zones = Zones::new(start, Order::MAX, place)?;
        let schema = format::schema(origin, start).map_err(|e| place.corrupt(e.to_string()))?;
        let encoder = Encoder::new(schema, options.level).map_err(|e| encoding_error(place, e))?;
        let mut writer = Self {
            sink,
            options,
            encoder,
            zones,
            pending: Vec::new(),
            outgoing: Vec::new(),
            batches: 0,
            rows: 0,
            bytes: 0,
            crc: crc32fast::Hasher::new(),
            events: 0,
            last_time_ns: 0,
            broken: false,
        };
        writer.encoder.take(&mut writer.outgoing);
        if writer.outgoing.len() > MAX_METADATA_BYTES {
            return Err(writer.place().corrupt("the start snapshot is too large for the header"));
        }
        writer.send()?;
        writer.write_occupancy(start)?;
        Ok(writer)
    }

    /// Appends an event.
    ///
    /// The event is written when a batch is full, or by [`Self::flush`].
    ///
    /// # Errors
    ///
    /// - `TimeBackwards`: the event is earlier than the event before it.
    /// - `PfnOutsideZones`: the block is not inside one zone of the start snapshot.
    /// - `BadValue`: the machine has no such order.
    /// - `Io`: writing failed. Every later call fails as well.
    ///
    /// After the first three errors the event is not part of the trace, and the writer can continue.
    pub fn push(&mut self, event: &Event) -> Result<(), TraceError> {
        if event.time_ns < self.last_time_ns {
            return Err(self.place().time_backwards(self.last_time_ns, event.time_ns));
        }
        let row = Row::of_event(event);
        self.zones.order(row.order, Column::Order, self.place())?;
        self.zones.order(row.fallback_order, Column::FallbackOrder, self.place())?;
        if let Some(pfn) = row.pfn
            && !self.zones.contain(pfn, 1 << row.order)
        {
            return Err(self.place().outside_zones(pfn, row.order));
        }
        self.last_time_ns = event.time_ns;
        self.events += 1;
        self.push_row(row)
    }

    /// Writes all events so far, so that they survive the process.
    ///
    /// A recorder calls this function once a second. A batch costs about 1.3 KB in addition to its events.
    pub fn flush(&mut self) -> Result<(), TraceError> {
        self.write_batch(None)?;
        self.sink.flush().map_err(|e| self.place().io(e))
    }

    /// Writes the remaining events and the ending. Returns the sink.
    ///
    /// # Errors
    ///
    /// `Corrupt` if the ending's snapshot contradicts itself or is too large, `Io` if writing fails.
    pub fn finish(mut self, ending: &Ending) -> Result<W, TraceError> {
        if let Some(snapshot) = &ending.snapshot {
            check_snapshot(snapshot).map_err(|what| self.place().corrupt(what))?;
        }
        self.write_batch(None)?;
        let crc32 = Some(self.crc.clone().finalize());
        let closing = Closing { events: self.events, crc32, ending: ending.clone() };
        let note = serde_json::to_string(&closing).map_err(|e| self.place().corrupt(e.to_string()))?;
        if note.len() > MAX_NOTE_BYTES {
            return Err(self.place().corrupt("the end snapshot is too large"));
        }
        let time_ns = ending.snapshot.as_ref().map_or(0, |s| s.time_ns).max(self.last_time_ns);
        self.pending.push(Row::of_ending(time_ns));
        self.write_batch(Some(&note))?;
        self.sink.flush().map_err(|e| self.place().io(e))?;
        Ok(self.sink)
    }

    /// Writes the remaining events without an ending, as if the recorder had been killed. Returns the sink.
    pub fn abandon(mut self) -> Result<W, TraceError> {
        self.flush()?;
        Ok(self.sink)
    }

    /// Returns the number of appended events.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Returns the number of appended events that are not written yet.
    pub fn pending_events(&self) -> usize {
        self.pending.len()
    }

    /// Returns the number of bytes written.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    fn write_occupancy(&mut self, start: &Snapshot) -> Result<(), TraceError> {
        if start.occupancy.len() > MAX_RUNS {
            return Err(self.place().corrupt(format!("more than {MAX_RUNS} occupancy runs")));
        }
        let mut end = 0;
        for &run in &start.occupancy {
            end = check_run(run, end).map_err(|what| self.place().corrupt_row(what))?;
            self.push_row(Row::of_run(run, start.time_ns))?;
        }
        self.write_batch(None)
    }

    fn push_row(&mut self, row: Row) -> Result<(), TraceError> {
        self.pending.push(row);
        if self.pending.len() >= self.options.batch_rows { self.write_batch(None) } else { Ok(()) }
    }

    /// Writes the pending rows, if any. A note belongs to the last of them.
    fn write_batch(&mut self, note: Option<&str>) -> Result<(), TraceError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let encoded = self.encoder.batch(&self.pending, note);
        let encoded = if note.is_some() { encoded.and_then(|()| self.encoder.end()) } else { encoded };
        encoded.map_err(|e| encoding_error(self.place(), e))?;
        self.encoder.take(&mut self.outgoing);
        self.batches += 1;
        self.send()?;
        self.rows += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }

    /// Writes to the sink. No other function writes to it.
    fn send(&mut self) -> Result<(), TraceError> {
        if self.broken {
            return Err(self.place().io(io::Error::other("an earlier write to this trace failed")));
        }
        if let Err(error) = self.sink.write_all(&self.outgoing) {
            self.broken = true;
            return Err(self.place().io(error));
        }
        self.crc.update(&self.outgoing);
        self.bytes += self.outgoing.len() as u64;
        Ok(())
    }

    fn place(&self) -> Place<'_> {
        let row = self.rows + self.pending.len() as u64;
        Place { file: &self.options.file, batch: self.batches + 1, row }
    }
}

fn encoding_error(place: Place<'_>, error: ArrowError) -> TraceError {
    match error {
        ArrowError::IoError(_, source) => place.io(source),
        other => place.corrupt(format!("cannot be encoded: {other}")),
    }
}
