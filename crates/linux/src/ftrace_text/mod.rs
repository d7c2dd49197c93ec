//! Page events from the texts of ftrace, `trace-cmd report` and `perf script`.

mod fields;
mod input;
mod line;
mod reorder;

use std::io::BufRead;
use std::path::{Path, PathBuf};

use freehold::Migratetype;
use freehold_trace::{Event, EventKind};

use crate::error::{Error, ParseError};
use fields::FieldReader;
pub use fields::PfnRadix;
pub(crate) use input::open_text;
use line::{Line, classify};
use reorder::{Reorder, TooOld};

/// The longest line that is read.
///
/// Units: bytes.
pub const MAX_LINE_BYTES: usize = 64 << 10;

const REMEDY: &str = "Remove the line if it is damaged, or write the text again with `trace-cmd report` or \
                      `perf script -F comm,tid,cpu,time,event,trace`";

/// How a text is read.
#[derive(Clone, Debug)]
pub struct TextOptions {
    /// Frame numbers without `0x`: decimal or hexadecimal.
    pub pfn_radix: PfnRadix,
    /// How far an event may be behind the newest one before it; it is put in order.
    pub reorder_window_ns: u64,
    /// Migratetypes by the recorded kernel's own numbers, as in
    /// [`freehold_trace::PageTypeInfo::types`].
    pub types: Vec<u8>,
}

impl Default for TextOptions {
    /// Frame numbers by their looks, a window of 1 ms, a kernel with CMA.
    fn default() -> Self {
        let types = Migratetype::ALL.map(|t| t as u8).to_vec();
        Self { pfn_radix: PfnRadix::Auto, reorder_window_ns: 1_000_000, types }
    }
}

/// What a text held.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TextCounts {
    /// Lines in all.
    pub lines: u64,
    /// Page events.
    pub events: u64,
    /// Events that the text says were lost.
    pub lost: u64,
    /// Lines of other events, comments and the like.
    pub other_lines: u64,
    /// Whether the last line was cut short and left out.
    pub cut_off: bool,
}

/// Reads page events from `text` into `take`, in the order of time. `file` is for messages.
///
/// # Errors
///
/// A line of a known event that does not parse, an overlong line, time that goes back by
/// more than the window, and whatever `take` answers.
pub fn read_text_events(
    file: &Path,
    text: &mut dyn BufRead,
    options: &TextOptions,
    take: &mut dyn FnMut(Event) -> Result<(), Error>,
) -> Result<TextCounts, Error> {
    let mut reader = TextReader {
        file: file.to_owned(),
        fields: FieldReader::new(options),
        reorder: Reorder::new(options.reorder_window_ns),
        counts: TextCounts::default(),
        early_lost: Vec::new(),
        newest_ns: None,
        window_ns: options.reorder_window_ns,
    };
    let mut line = Vec::with_capacity(256);
    while input::next_line(file, text, reader.counts.lines + 1, &mut line)? {
        reader.counts.lines += 1;
        reader.line(&line, take)?;
    }
    reader.reorder.rest(take)?;
    Ok(reader.counts)
}

struct TextReader {
    file: PathBuf,
    fields: FieldReader,
    reorder: Reorder,
    counts: TextCounts,
    /// Losses that were told before the first event, whose time they get.
    early_lost: Vec<(u16, u64)>,
    newest_ns: Option<u64>,
    window_ns: u64,
}

impl TextReader {
    fn line(&mut self, bytes: &[u8], take: &mut dyn FnMut(Event) -> Result<(), Error>) -> Result<(), Error> {
        let (line, is_whole) = bytes.strip_suffix(b"\n").map_or((bytes, false), |line| (line, true));
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let parsed = match classify(line) {
            Ok(Line::Event(head)) => self.fields.read(&head).map(|kind| {
                let time_ns = head.time_ns;
                Event { time_ns, cpu: head.cpu, pid: head.pid, kind }
            }),
            Ok(Line::Lost { cpu, count }) => return self.lost(cpu, count, take),
            Ok(Line::Other) => {
                self.counts.other_lines += 1;
                return Ok(());
            }
            Err(expected) => Err(expected),
        };
        match parsed {
            Ok(event) => {
                self.counts.events += 1;
                for (cpu, count) in std::mem::take(&mut self.early_lost) {
                    self.push(Event { cpu, pid: 0, kind: EventKind::Lost { count }, ..event }, take)?;
                }
                self.newest_ns = self.newest_ns.max(Some(event.time_ns));
                self.push(event, take)
            }
            Err(_) if !is_whole => {
                self.counts.cut_off = true;
                Ok(())
            }
            Err(expected) => {
                let text = String::from_utf8_lossy(line);
                Err(ParseError::new(self.counts.lines, expected, &text).in_file(&self.file, REMEDY))
            }
        }
    }

    fn lost(
        &mut self,
        cpu: u16,
        count: u64,
        take: &mut dyn FnMut(Event) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.counts.lost = self.counts.lost.saturating_add(count);
        let Some(time_ns) = self.newest_ns else {
            self.early_lost.push((cpu, count));
            return Ok(());
        };
        self.push(Event { time_ns, cpu, pid: 0, kind: EventKind::Lost { count } }, take)
    }

    fn push(&mut self, event: Event, take: &mut dyn FnMut(Event) -> Result<(), Error>) -> Result<(), Error> {
        match self.reorder.push(event, take)? {
            Ok(()) => Ok(()),
            Err(TooOld { back_ns }) => Err(Error::TimeBackwards {
                file: self.file.clone(),
                line: self.counts.lines,
                back_ns,
                window_ns: self.window_ns,
            }),
        }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
