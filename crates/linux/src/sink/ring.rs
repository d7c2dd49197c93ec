//! A sink that keeps the last seconds of a recording in memory until the end.

use std::collections::VecDeque;
use std::mem;
use std::time::{Duration, Instant};

use freehold_trace::{Ending, Event, Origin, ReadOptions, Snapshot, TraceReader, TraceWriter, WriteOptions};

use super::event_sink::EventSink;
use crate::error::SinkError;

/// How much a [`RingSink`] keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RingOptions {
    /// The least time that is kept if the memory suffices. At most half as much again is kept.
    pub keep: Duration,
    /// The most memory of the kept segments. The batch that is being filled (5 MB) and the events
    /// during a snapshot come on top.
    ///
    /// Units: bytes.
    pub memory_bytes: u64,
}

/// Keeps the last seconds in memory and passes them on when the recording ends.
///
/// It keeps segments, compressed as in a file. Each begins with a snapshot and lasts half of the time to
/// keep. Two closed segments and the current one are kept. A segment that takes a third of the memory is
/// closed early; less time is then kept.
pub struct RingSink<S> {
    inner: S,
    options: RingOptions,
    origin: Origin,
    began: Instant,
    /// The closed segments, oldest first.
    closed: VecDeque<Segment<Vec<u8>>>,
    current: Option<Segment<TraceWriter<Vec<u8>>>>,
}

/// A part of the recording, with the snapshot that it starts from.
struct Segment<T> {
    began: Instant,
    trace: T,
}

/// Closed segments that are kept.
const CLOSED: usize = 2;

impl<S: EventSink> RingSink<S> {
    /// Returns a ring that passes its contents to `inner` at the end.
    pub fn new(inner: S, options: RingOptions) -> Self {
        let (origin, began) = (Origin::default(), Instant::now());
        Self { inner, options, origin, began, closed: VecDeque::new(), current: None }
    }

    /// Returns how much time the kept segments cover.
    pub fn kept(&self) -> Duration {
        let oldest = self.closed.front().map(|segment| segment.began);
        oldest.or_else(|| Some(self.current.as_ref()?.began)).map_or(Duration::ZERO, |began| began.elapsed())
    }

    /// Returns the memory of the segments.
    ///
    /// Units: bytes.
    pub fn memory_bytes(&self) -> u64 {
        let closed: usize = self.closed.iter().map(|segment| segment.trace.len()).sum();
        closed as u64 + self.current_bytes()
    }

    fn current_bytes(&self) -> u64 {
        self.current.as_ref().map_or(0, |segment| segment.trace.bytes())
    }

    fn open(&mut self, start: &Snapshot) -> Result<(), SinkError> {
        let options = WriteOptions::new("the ring in memory");
        let trace = TraceWriter::create(Vec::new(), options, &self.origin, start)?;
        self.current = Some(Segment { began: Instant::now(), trace });
        self.shrink()
    }

    fn close(&mut self) -> Result<(), SinkError> {
        if let Some(Segment { began, trace }) = self.current.take() {
            self.closed.push_back(Segment { began, trace: trace.abandon()? });
        }
        Ok(())
    }

    /// Drops the oldest segments until their number and memory are within the limits.
    fn shrink(&mut self) -> Result<(), SinkError> {
        while self.closed.len() > CLOSED || self.memory_bytes() > self.options.memory_bytes {
            if self.closed.pop_front().is_none() {
                let megabytes = self.options.memory_bytes / 1_000_000;
                return Err(format!(
                    "what the ring has to keep does not fit into {megabytes} MB; give it more with `--ring-memory`, or \
                     leave out occupancy with `--no-occupancy`"
                )
                .into());
            }
        }
        Ok(())
    }
}

impl<S: EventSink> EventSink for RingSink<S> {
    fn begin(&mut self, origin: &Origin, start: &Snapshot) -> Result<(), SinkError> {
        self.origin = origin.clone();
        self.began = Instant::now();
        self.open(start)
    }

    fn push(&mut self, event: Event) -> Result<(), SinkError> {
        let segment = self.current.as_mut().ok_or("the trace has not begun or has ended")?;
        let before = segment.trace.bytes();
        segment.trace.push(&event)?;
        if segment.trace.bytes() == before { Ok(()) } else { self.shrink() }
    }

    /// Does nothing: memory is lost with the process.
    fn flush(&mut self) -> Result<(), SinkError> {
        Ok(())
    }

    fn end(&mut self, ending: &Ending) -> Result<(), SinkError> {
        self.close()?;
        let mut begun = false;
        for segment in mem::take(&mut self.closed) {
            let mut reader = TraceReader::open(&segment.trace[..], ReadOptions::new("the ring in memory"))?;
            if !begun {
                let later_s = segment.began.duration_since(self.began).as_secs();
                let started_unix_s = self.origin.started_unix_s + later_s;
                let origin = Origin { started_unix_s, ..self.origin.clone() };
                self.inner.begin(&origin, reader.start())?;
                begun = true;
            }
            while let Some(events) = reader.next_batch()? {
                for &event in events {
                    self.inner.push(event)?;
                }
            }
        }
        self.inner.end(ending)
    }

    fn wants_snapshot(&self) -> bool {
        let Some(current) = &self.current else { return false };
        let age = current.began.elapsed();
        let is_large = self.current_bytes() >= self.options.memory_bytes / (CLOSED as u64 + 1);
        // However small the memory, snapshots take only a small part of the time.
        age >= self.options.keep / CLOSED as u32 || (is_large && age >= self.options.keep / 16)
    }

    fn restart(&mut self, start: &Snapshot) -> Result<(), SinkError> {
        self.close()?;
        self.open(start)
    }
}

#[cfg(test)]
mod tests {
    use freehold_trace::{EventKind, ZoneSnapshot};

    use super::*;
    use crate::sink::MemorySink;

    fn start(time_ns: u64) -> Snapshot {
        let zone = ZoneSnapshot { name: "Normal".to_owned(), spanned: 1 << 20, ..ZoneSnapshot::default() };
        Snapshot { time_ns, zones: vec![zone], ..Snapshot::default() }
    }

    fn event(time_ns: u64) -> Event {
        // Numbers that compress badly.
        let pid = (time_ns.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) as i32;
        Event { time_ns, cpu: 0, pid, kind: EventKind::Lost { count: 1 } }
    }

    /// Records ten seconds, a segment each second; returns what the ring passes on at the end.
    fn recorded(memory_bytes: u64, events_a_segment: u64) -> MemorySink {
        let options = RingOptions { keep: Duration::from_secs(2), memory_bytes };
        let mut ring = RingSink::new(MemorySink::default(), options);
        ring.begin(&Origin::default(), &start(5)).unwrap();
        for segment in 0..10 {
            if segment > 0 {
                ring.restart(&start(segment * 1_000_000 + 5)).unwrap();
            }
            for number in 0..events_a_segment {
                ring.push(event(segment * 1_000_000 + number)).unwrap();
            }
            assert!(ring.memory_bytes() <= memory_bytes);
        }
        ring.end(&Ending { command_exit: Some(7), ..Ending::default() }).unwrap();
        ring.inner
    }

    #[test]
    fn the_last_segments_come_out_with_the_oldest_ones_state() {
        let sink = recorded(64 << 20, 100_000);
        assert_eq!(sink.start, Some(start(7_000_005)));
        assert_eq!(sink.events.len(), 300_000);
        assert_eq!((sink.events[0], sink.events[299_999]), (event(7_000_000), event(9_099_999)));
        assert_eq!(sink.ending.unwrap().command_exit, Some(7));
    }

    #[test]
    fn less_is_kept_where_memory_is_short() {
        let whole = recorded(64 << 20, 200_000).events.len();
        let sink = recorded(2_000_000, 200_000);
        assert!(sink.events.len() < whole && sink.events.len() >= 200_000, "{}", sink.events.len());
        assert_eq!(sink.start.unwrap().time_ns % 1_000_000, 5);
    }

    #[test]
    fn what_never_fits_is_an_error() {
        let options = RingOptions { keep: Duration::from_secs(2), memory_bytes: 1000 };
        let mut ring = RingSink::new(MemorySink::default(), options);
        let error = ring.begin(&Origin::default(), &start(0)).unwrap_err();
        assert!(error.to_string().contains("--ring-memory"), "{error}");
    }

    #[test]
    fn a_snapshot_is_wanted_after_half_the_time() {
        let options = RingOptions { keep: Duration::from_millis(40), memory_bytes: 1 << 20 };
        let mut ring = RingSink::new(MemorySink::default(), options);
        assert!(!ring.wants_snapshot());
        ring.begin(&Origin::default(), &start(0)).unwrap();
        assert!(ring.kept() < Duration::from_secs(10));
        std::thread::sleep(Duration::from_millis(25));
        assert!(ring.wants_snapshot() && ring.kept() >= Duration::from_millis(20));
    }
}
