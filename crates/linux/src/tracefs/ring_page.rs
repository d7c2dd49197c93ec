//! Parses a sub-buffer page of the kernel's ring buffer, as read from `trace_pipe_raw`.
//!
//! Source: the text of `events/header_page` and `events/header_event`, and the record types in
//! `include/linux/ring_buffer.h`.

use thiserror::Error;

use super::format::{Field, FormatError, parse_format};

/// Set in the commit field if events before the page were overwritten.
const MISSED_EVENTS: u64 = 1 << 31;
/// Set as well if the number of these events is stored behind the page's records.
const MISSED_STORED: u64 = 1 << 30;

const TYPE_PADDING: u32 = 29;
const TYPE_TIME_EXTEND: u32 = 30;
const TYPE_TIME_STAMP: u32 = 31;
/// Bits of the time delta in a record's first word.
const DELTA_BITS: u32 = 27;
/// Bits of the time that an absolute time stamp does not contain.
const STAMP_HIGH_BITS: u64 = 0xf8 << 56;

/// What is wrong with a page.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum PageError {
    /// The page is shorter than its header.
    #[error("{0} bytes are too few for a page's header")]
    Short(usize),
    /// The page claims to hold more than it does.
    #[error("a page says that it holds {said} bytes of records and has room for {room}")]
    Commit {
        /// The claimed bytes.
        said: u64,
        /// The available bytes.
        room: usize,
    },
    /// A record reaches beyond the end of the records.
    #[error("the record at byte {at} reaches over the page's {records} bytes of records")]
    Record {
        /// Where the record starts.
        at: usize,
        /// Bytes of all records in the page.
        records: usize,
    },
}

/// The layout of a page, from `events/header_page`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PageLayout {
    timestamp: Field,
    commit: Field,
    data: usize,
    page_bytes: usize,
}

impl PageLayout {
    /// Parses the contents of `events/header_page`.
    ///
    /// # Errors
    ///
    /// A missing field, or pages larger than 64 MiB.
    pub fn parse(header_page: &str) -> Result<Self, FormatError> {
        const MAX_PAGE_BYTES: usize = 64 << 20;
        let format = parse_format(header_page)?;
        let field = |name: &str| {
            format
                .field(name)
                .cloned()
                .ok_or_else(|| FormatError(format!("header_page names no field {name}")))
        };
        let data = field("data")?;
        let page_bytes = data.offset.saturating_add(data.size);
        if page_bytes > MAX_PAGE_BYTES {
            return Err(FormatError(format!("header_page announces pages of {page_bytes} bytes")));
        }
        Ok(Self { timestamp: field("timestamp")?, commit: field("commit")?, data: data.offset, page_bytes })
    }

    /// Returns the bytes of a page, including its header.
    pub fn page_bytes(&self) -> usize {
        self.page_bytes
    }
}

/// How many events are missing before a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Missed {
    /// None.
    None,
    /// An unknown number.
    Some,
    /// This many.
    Count(u64),
}

/// A page of the ring buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RingPage<'a> {
    /// The time of the page's start, on the trace's clock.
    pub time_ns: u64,
    /// Events that are missing before it.
    pub missed: Missed,
    records: &'a [u8],
}

impl<'a> RingPage<'a> {
    /// Parses a page's header.
    pub fn parse(layout: &PageLayout, bytes: &'a [u8]) -> Result<Self, PageError> {
        let short = PageError::Short(bytes.len());
        let time_ns = layout.timestamp.read(bytes).ok_or(short.clone())?;
        let commit = layout.commit.read(bytes).ok_or(short.clone())?;
        let data = bytes.get(layout.data..).ok_or(short)?;
        // A signed field of 4 bytes is sign-extended: only the low word counts.
        let said = commit & 0xffff_ffff & !(MISSED_EVENTS | MISSED_STORED);
        let records = usize::try_from(said).ok().and_then(|said| data.get(..said));
        let records = records.ok_or(PageError::Commit { said, room: data.len() })?;
        let missed = if commit & MISSED_EVENTS == 0 {
            Missed::None
        } else if commit & MISSED_STORED == 0 {
            Missed::Some
        } else {
            // The number is an `unsigned long`, which has the size of the commit field.
            let count =
                Field { name: String::new(), offset: records.len(), size: layout.commit.size, signed: false };
            count.read(data).map_or(Missed::Some, Missed::Count)
        };
        Ok(Self { time_ns, missed, records })
    }

    /// Returns the page's event records, oldest first.
    pub fn records(&self) -> Records<'a> {
        Records { bytes: self.records, at: 0, time_ns: self.time_ns, failed: false }
    }
}

/// An event record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record<'a> {
    /// The time when it was written, on the trace's clock.
    pub time_ns: u64,
    /// The event's bytes, with up to 3 bytes of padding.
    pub event: &'a [u8],
}

/// Iterates over a page's event records; stops after an error.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    bytes: &'a [u8],
    at: usize,
    time_ns: u64,
    failed: bool,
}

impl<'a> Records<'a> {
    fn word(&self, at: usize) -> Option<u32> {
        let bytes = self.bytes.get(at..at.checked_add(4)?)?;
        Some(u32::from_ne_bytes(bytes.try_into().ok()?))
    }

    /// Splits a record's first word into its type and its time delta.
    fn split(word: u32) -> (u32, u64) {
        if cfg!(target_endian = "big") {
            (word >> DELTA_BITS, u64::from(word & ((1 << DELTA_BITS) - 1)))
        } else {
            (word & 0x1f, u64::from(word >> 5))
        }
    }

    /// Returns the next event record, or `None` at the page's end or after an incomplete record.
    fn step(&mut self) -> Option<Record<'a>> {
        loop {
            let (kind, delta) = Self::split(self.word(self.at)?);
            let body = self.at + 4;
            match kind {
                TYPE_PADDING if delta == 0 => {
                    self.at = self.bytes.len();
                    return None;
                }
                TYPE_PADDING => {
                    // A discarded event, in which a delta of 1 stands for 0.
                    self.time_ns = self.time_ns.wrapping_add(if delta == 1 { 0 } else { delta });
                    let length = self.word(body)?.max(4) as usize;
                    self.at = self.skip_to(body.checked_add(length)?)?;
                }
                TYPE_TIME_EXTEND => {
                    let high = u64::from(self.word(body)?) << DELTA_BITS;
                    self.time_ns = self.time_ns.wrapping_add(high | delta);
                    self.at = body + 4;
                }
                TYPE_TIME_STAMP => {
                    let low = u64::from(self.word(body)?) << DELTA_BITS | delta;
                    self.time_ns = absolute(self.time_ns, low);
                    self.at = body + 4;
                }
                0 => {
                    // The length in the second word includes that word.
                    let length = (self.word(body)? as usize).checked_sub(4)?;
                    return self.event(body + 4, length, delta);
                }
                words => return self.event(body, words as usize * 4, delta),
            }
        }
    }

    fn skip_to(&self, at: usize) -> Option<usize> {
        (at <= self.bytes.len()).then_some(at)
    }

    fn event(&mut self, start: usize, length: usize, delta: u64) -> Option<Record<'a>> {
        let end = start.checked_add(length)?;
        let event = self.bytes.get(start..end)?;
        self.time_ns = self.time_ns.wrapping_add(delta);
        // Records start at multiples of 4.
        self.at = end.checked_next_multiple_of(4)?;
        Some(Record { time_ns: self.time_ns, event })
    }
}

/// Extends an absolute stamp of 59 bits by the high bits of `before`, the time of the event before.
fn absolute(before: u64, low: u64) -> u64 {
    let time = low | (before & STAMP_HIGH_BITS);
    if time < before { time.wrapping_add(1 << 59) } else { time }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, PageError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed || self.at >= self.bytes.len() {
            return None;
        }
        if let Some(record) = self.step() {
            return Some(Ok(record));
        }
        if self.at >= self.bytes.len() {
            return None;
        }
        self.failed = true;
        Some(Err(PageError::Record { at: self.at, records: self.bytes.len() }))
    }
}

#[cfg(test)]
#[path = "ring_page_tests.rs"]
mod tests;
