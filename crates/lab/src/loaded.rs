//! A whole trace in memory, read for the lab.

use std::io::Read;

use freehold_measure::{foreign, grouped};
use freehold_trace::{Ending, EventKind, EventLog, Origin, Snapshot, TraceError, TraceReader};

use crate::error::LabError;
use crate::replay::Lab;
use crate::sections::{PresentSections, SectionSearch};
use crate::trace::Trace;

/// A whole trace in memory.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The name by which the user gave the trace.
    pub name: String,
    origin: Origin,
    start: Snapshot,
    events: EventLog,
    ending: Option<Ending>,
}

impl Loaded {
    /// Reads a trace. Calls `open` for its reader, twice if the machine has large memory holes. Calls `note` with
    /// each sentence that the user should read about the trace.
    ///
    /// # Errors
    /// The errors of `open` and of the reader.
    pub fn read<R: Read, E: From<TraceError>>(
        name: &str,
        mut open: impl FnMut() -> Result<TraceReader<R>, E>,
        mut note: impl FnMut(&str),
    ) -> Result<Self, E> {
        let mut reader = open()?;
        let (start, sections) = without_holes(name, reader.start(), open, &mut note)?;
        let mut events = EventLog::default();
        while let Some(batch) = reader.next_batch()? {
            match &sections {
                Some(sections) => events.extend(batch.iter().map(|event| sections.event(*event))),
                None => events.extend(batch.iter().copied()),
            }
        }
        note_if_cut_short(name, &reader, note);
        let mut ending = reader.ending().cloned();
        if let Some((sections, ending)) = sections.as_ref().zip(ending.as_mut()) {
            sections.ending(ending);
        }
        Ok(Self { name: name.to_owned(), origin: reader.origin().clone(), start, events, ending })
    }

    /// Returns a view of the trace for the lab.
    pub fn trace(&self) -> Trace<'_> {
        Trace { origin: &self.origin, start: &self.start, events: &self.events, ending: self.ending.as_ref() }
    }

    /// Returns the lab for this trace.
    ///
    /// # Errors
    /// As [`Lab::new`].
    pub fn lab(&self) -> Result<Lab<'_>, LabError> {
        Lab::new(self.trace())
    }

    /// Returns the number of pages of all requests, failed ones included.
    ///
    /// Units: pages.
    pub fn requested_pages(&self) -> u64 {
        let mut pages = 0;
        self.events.for_each(|event| {
            if let EventKind::Alloc { order, .. } = event.kind {
                pages += order.pages();
            }
        });
        pages
    }

    /// Returns one line that describes the recording.
    pub fn headline(&self) -> String {
        let Origin { kernel_release, cpus, .. } = &self.origin;
        let span = self.events.first().zip(self.events.last());
        let seconds = span.map_or(0.0, |(first, last)| (last.time_ns - first.time_ns) as f64 / 1e9);
        let kernel = if kernel_release.is_empty() { "an unnamed kernel" } else { kernel_release };
        let events = grouped(self.events.len() as u64);
        let line = format!("{}: {events} events in {seconds:.1} s, {kernel}, {cpus} CPUs", self.name);
        foreign::one_line(&line).into_owned()
    }
}

/// Returns the start snapshot of a trace. If the machine has large memory holes, leaves them out, and also returns
/// the sections that renumber the frames of events. In that case reads the trace once more, with the reader that
/// `again` returns.
///
/// # Errors
/// The errors of `again` and of the reader.
pub fn without_holes<R: Read, E: From<TraceError>>(
    name: &str,
    start: &Snapshot,
    mut again: impl FnMut() -> Result<TraceReader<R>, E>,
    mut note: impl FnMut(&str),
) -> Result<(Snapshot, Option<PresentSections>), E> {
    let mut start = start.clone();
    let Some(mut search) = SectionSearch::new(&start) else { return Ok((start, None)) };
    let mut again = again()?;
    while let Some(batch) = again.next_batch()? {
        search.events(batch);
    }
    let mut sections = search.finish();
    sections.start(&mut start);
    let (recorded, kept) = sections.spanned();
    note(&format!(
        "{name}: the zones span {} pages, the sections with memory {}; frames are numbered without the holes",
        grouped(recorded),
        grouped(kept)
    ));
    Ok((start, Some(sections)))
}

/// Calls `note` if the recording was cut short. All events must have been read.
pub fn note_if_cut_short<R: Read>(name: &str, reader: &TraceReader<R>, mut note: impl FnMut(&str)) {
    if reader.is_cut_short() {
        note(&format!("{name}: the recording was cut short; the state of the machine at the end is unknown"));
    }
}
