//! Turns a text into events.

use std::io::BufRead;
use std::path::{Path, PathBuf};

use freehold::{Order, Pfn};
use freehold_trace::{Event, EventKind};

use super::fields::FieldReader;
use super::input::next_line;
use super::line::{Line, OLD_FREES, classify};
use super::options::{TextCounts, TextOptions};
use crate::error::{Error, ParseError};
use crate::reorder::{Reorder, TooOld};

const REMEDY: &str = "Remove the line if it is damaged, or write the text again: `trace-cmd report`, \
                      `perf script --ns -F comm,tid,cpu,time,event,trace`, or freehold.bt";

/// How far bpftrace's events may go back: it writes down a CPU's whole buffer, then the next one's. With buffers
/// of 16 MiB on two CPUs that was up to 0.4 s.
const BPFTRACE_WINDOW_NS: u64 = 5_000_000_000;

/// Reads page events from `text` and calls `take` with each, in the order of time. `file` is the name for
/// messages.
///
/// # Errors
///
/// A line of a known event that does not parse, an overlong line, time that goes back by more than the
/// window, and any error of `take`.
pub fn read_text_events(
    file: &Path,
    text: &mut dyn BufRead,
    options: &TextOptions,
    take: &mut dyn FnMut(Event) -> Result<(), Error>,
) -> Result<TextCounts, Error> {
    let mut reader = TextReader {
        file: file.to_owned(),
        fields: FieldReader::new(options),
        reorder: Reorder::default(),
        counts: TextCounts::default(),
        early_lost: Vec::new(),
        newest_ns: None,
        window_ns: options.reorder_window_ns,
        last_free: None,
    };
    let mut line = Vec::with_capacity(256);
    while next_line(file, text, reader.counts.lines + 1, &mut line)? {
        reader.counts.lines += 1;
        reader.line(&line, take)?;
    }
    reader.reorder.rest(take)?;
    (reader.counts.numeric_flags, reader.counts.knows_bits) = reader.fields.numbers();
    Ok(reader.counts)
}

struct TextReader {
    file: PathBuf,
    fields: FieldReader,
    reorder: Reorder,
    counts: TextCounts,
    /// Losses before the first event, whose time they get.
    early_lost: Vec<(u16, u64)>,
    newest_ns: Option<u64>,
    window_ns: u64,
    /// CPU, task and page of the last event, if it was a free of a kernel before 3.3.
    last_free: Option<(u16, i32, Pfn)>,
}

impl TextReader {
    fn line(&mut self, bytes: &[u8], take: &mut dyn FnMut(Event) -> Result<(), Error>) -> Result<(), Error> {
        let (line, is_whole) = bytes.strip_suffix(b"\n").map_or((bytes, false), |line| (line, true));
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let parsed = match classify(line) {
            Ok(Line::Event(head)) => {
                let is_old_free = OLD_FREES.contains(&head.event);
                let event = self.fields.read(&head).map(|kind| {
                    let time_ns = head.time_ns;
                    Event { time_ns, cpu: head.cpu, pid: head.pid, kind }
                });
                if event.as_ref().is_ok_and(|event| self.repeats(event, is_old_free)) {
                    self.counts.repeated_frees += 1;
                    return Ok(());
                }
                event
            }
            Ok(Line::Lost { cpu, count }) => return self.lost(cpu, count, take),
            Ok(Line::Bpftrace) => {
                self.fields.read_numbers();
                self.window_ns = self.window_ns.max(BPFTRACE_WINDOW_NS);
                self.counts.other_lines += 1;
                return Ok(());
            }
            Ok(Line::PrintFormat(format)) => {
                self.fields.name_bits(format);
                self.counts.other_lines += 1;
                return Ok(());
            }
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

    /// Returns true if a free repeats the event before it: kernels before 2.6.34 report a free of one page twice.
    fn repeats(&mut self, event: &Event, is_old_free: bool) -> bool {
        let free = match event.kind {
            EventKind::Free { pfn, order: Order::ZERO } if is_old_free => Some((event.cpu, event.pid, pfn)),
            _ => None,
        };
        let before = std::mem::replace(&mut self.last_free, free);
        let is_repeated = free.is_some() && before == free;
        if is_repeated {
            self.last_free = None;
        }
        is_repeated
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
        match self.reorder.push(event) {
            Ok(()) => self.reorder.pass_window(self.window_ns, take),
            Err(TooOld { back_ns, .. }) => Err(Error::TimeBackwards {
                file: self.file.clone(),
                line: self.counts.lines,
                back_ns,
                window_ns: self.window_ns,
            }),
        }
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
