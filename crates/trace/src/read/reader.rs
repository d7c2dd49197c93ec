//! The reader of traces.

use std::io::Read;

use super::decode::Decoder;
use super::header::Header;
use super::message::{Messages, Next};
use crate::format::{
    Closing, Column, MAX_RUNS, Place, RowKind, TraceError, Zones, check_run, check_snapshot,
};
use crate::model::{Ending, Event, Origin, Snapshot};

/// The number of rows that are converted at a time. Their events fit into a core's cache.
const EVENTS_AT_A_TIME: usize = 8192;

/// The options of reading a trace.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// Name of the file, for error messages.
    pub file: String,
    /// True to read a file that ends within a message, up to that message.
    pub partial: bool,
}

impl ReadOptions {
    /// Returns options that accept only complete files.
    pub fn new(file: impl Into<String>) -> Self {
        Self { file: file.into(), partial: false }
    }
}

/// A reader of a trace.
///
/// The reader checks every value: the events of [`Self::next_batch`] are in the order of time, every block is inside
/// one zone of [`Self::start`], and every code is known. It does not check that `cpu` is below `origin().cpus`, or that
/// frees match allocations.
///
/// Memory: at most about 200 MB for one record batch of any file (10 MB for a batch of a recorder), plus the header and
/// the start snapshot.
pub struct TraceReader<R> {
    messages: Messages<R>,
    decoder: Decoder,
    options: ReadOptions,
    origin: Origin,
    start: Snapshot,
    zones: Zones,
    /// Events of the current batch.
    events: Vec<Event>,
    /// The row of the current batch that is converted next.
    next_row: usize,
    /// True if `events` was not returned yet.
    pending: bool,
    state: State,
    ending: Option<Ending>,
    /// The numbers of record batches, rows and events before the current batch.
    batches: u64,
    rows: u64,
    event_count: u64,
    last_time_ns: u64,
    runs_end: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Only rows of occupancy so far.
    Occupancy,
    /// Rows of events.
    Events,
    /// The ending was read; only the end of the stream may follow.
    Ended,
    /// The end of a complete trace.
    Done,
    /// The end of a trace without an ending.
    CutShort,
}

impl<R: Read> TraceReader<R> {
    /// Reads the header and the start snapshot.
    ///
    /// The function reads `source` in large pieces, with 8 bytes before each. `source` needs a buffer only if small
    /// reads are slow.
    ///
    /// # Errors
    ///
    /// Every [`TraceError`], because the function also reads the first record batches.
    pub fn open(source: R, options: ReadOptions) -> Result<Self, TraceError> {
        let mut messages = Messages::new(source);
        let place = Place { file: &options.file, batch: 0, row: 0 };
        let Header { origin, start, columns, largest } = Header::read(&mut messages, place)?;
        let zones = Zones::new(&start, largest, place)?;
        let decoder = Decoder::new(columns).map_err(|e| place.io(e))?;
        let mut reader = Self {
            messages,
            decoder,
            options,
            origin,
            start,
            zones,
            events: Vec::new(),
            next_row: 0,
            pending: false,
            state: State::Occupancy,
            ending: None,
            batches: 0,
            rows: 0,
            event_count: 0,
            last_time_ns: 0,
            runs_end: 0,
        };
        while reader.state == State::Occupancy {
            reader.pending = reader.read_events()?;
        }
        Ok(reader)
    }

    /// Returns the origin of the trace.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Returns the machine's state at the start, including the occupancy.
    pub fn start(&self) -> &Snapshot {
        &self.start
    }

    /// Returns the next events, or `None` after the last. The slice is never empty.
    ///
    /// # Errors
    ///
    /// Every [`TraceError`] except those of the header. After an error the next call returns `None`.
    pub fn next_batch(&mut self) -> Result<Option<&[Event]>, TraceError> {
        while !self.pending && !self.is_done() {
            match self.read_events() {
                Ok(has_events) => self.pending = has_events,
                Err(error) => {
                    self.state = State::CutShort;
                    return Err(error);
                }
            }
        }
        if !self.pending {
            return Ok(None);
        }
        self.pending = false;
        Ok(Some(&self.events))
    }

    /// Returns the ending. Returns `None` before the last batch is read, and if the trace was cut short.
    pub fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref()
    }

    /// Returns true if the trace has no ending, for example because the recorder was killed. The result is final after
    /// [`Self::next_batch`] has returned `None`.
    pub fn is_cut_short(&self) -> bool {
        self.state == State::CutShort
    }

    /// Returns the number of bytes read from the file.
    pub fn bytes(&self) -> u64 {
        self.messages.bytes()
    }

    /// Returns the number of record batches read, including those of the start snapshot.
    pub fn batches(&self) -> u64 {
        self.batches
    }

    fn is_done(&self) -> bool {
        matches!(self.state, State::Done | State::CutShort)
    }

    /// Converts the next rows. Returns true if some of them were events.
    fn read_events(&mut self) -> Result<bool, TraceError> {
        self.events.clear();
        if self.next_row < self.decoder.rows() || self.read_batch()? {
            self.take_rows()?;
        }
        Ok(!self.events.is_empty())
    }

    /// Reads one message. Returns false at the end of the stream.
    fn read_batch(&mut self) -> Result<bool, TraceError> {
        let place = Place { file: &self.options.file, batch: self.batches + 1, row: self.rows };
        match self.messages.advance(place)? {
            Next::Message => {}
            Next::EndOfStream => {
                if !matches!(self.messages.advance(place)?, Next::EndOfFile) {
                    return Err(place.corrupt("bytes behind the end of the stream"));
                }
                self.end();
                return Ok(false);
            }
            Next::EndOfFile => {
                self.end();
                return Ok(false);
            }
            Next::Truncated if self.options.partial => {
                self.end();
                return Ok(false);
            }
            Next::Truncated => {
                return Err(TraceError::Truncated {
                    file: self.options.file.clone(),
                    batch: place.batch,
                    events_before: self.event_count,
                    bytes: self.messages.bytes(),
                });
            }
            Next::Foreign(_) => return Err(place.corrupt("no message where one should start")),
        }
        if self.state == State::Ended {
            return Err(place.corrupt("rows behind the ending"));
        }
        let message = self.messages.current(place)?;
        let batch = message.header_as_record_batch();
        let batch = batch.ok_or_else(|| place.corrupt("a message that is no record batch"))?;
        self.decoder.load(batch, self.messages.body()).map_err(|what| place.corrupt(what))?;
        self.next_row = 0;
        Ok(true)
    }

    /// Ends reading, with or without an ending.
    fn end(&mut self) {
        self.state = if self.state == State::Ended { State::Done } else { State::CutShort };
    }

    /// Converts some rows of the current batch into events, runs and the ending.
    fn take_rows(&mut self) -> Result<(), TraceError> {
        let view = self.decoder.view();
        let mut place = Place { file: &self.options.file, batch: self.batches + 1, row: self.rows };
        let end = view.rows.min(self.next_row + EVENTS_AT_A_TIME);
        self.events.reserve(end - self.next_row);
        for i in self.next_row..end {
            place.row = self.rows + i as u64;
            let row = view.row(i);
            match RowKind::new(row.kind) {
                Some(RowKind::Occupancy) if self.state == State::Occupancy => {
                    let run = row.run(place)?;
                    self.runs_end = check_run(run, self.runs_end).map_err(|what| place.corrupt_row(what))?;
                    if self.start.occupancy.len() >= MAX_RUNS {
                        return Err(place.corrupt_row(format!("more than {MAX_RUNS} occupancy runs")));
                    }
                    self.start.occupancy.push(run);
                }
                Some(RowKind::Occupancy) => return Err(place.corrupt_row("occupancy behind the first event")),
                Some(RowKind::Ending) if i + 1 == view.rows => {
                    let events = self.event_count + self.events.len() as u64;
                    let crc32 = self.messages.crc_before();
                    self.ending = Some(closing(self.decoder.note(), events, crc32, place)?);
                    self.state = State::Ended;
                }
                Some(RowKind::Ending) => return Err(place.corrupt_row("rows behind the ending")),
                Some(kind) => {
                    if row.time_ns < self.last_time_ns {
                        return Err(place.time_backwards(self.last_time_ns, row.time_ns));
                    }
                    self.last_time_ns = row.time_ns;
                    self.events.push(row.event(kind, &mut self.zones, place)?);
                    self.state = State::Events;
                }
                None => return Err(place.bad_value(Column::Kind, row.kind.into(), "0 to 20 or 255")),
            }
        }
        if end == view.rows {
            self.batches += 1;
            self.rows += end as u64;
        }
        self.next_row = end;
        self.event_count += self.events.len() as u64;
        Ok(())
    }
}

/// Reads the note of the ending and compares the file with it.
fn closing(note: &[u8], events: u64, crc32: u32, place: Place<'_>) -> Result<Ending, TraceError> {
    let closing: Closing =
        serde_json::from_slice(note).map_err(|e| place.corrupt_row(format!("note of the ending: {e}")))?;
    if closing.events != events {
        return Err(place.corrupt_row(format!("{events} events where the ending counts {}", closing.events)));
    }
    if let Some(written) = closing.crc32
        && written != crc32
    {
        return Err(place.corrupt_row(format!(
            "the checksum of the file is {crc32:08x} where the ending says {written:08x}"
        )));
    }
    if let Some(snapshot) = &closing.ending.snapshot {
        check_snapshot(snapshot).map_err(|what| place.corrupt_row(what))?;
    }
    Ok(closing.ending)
}
