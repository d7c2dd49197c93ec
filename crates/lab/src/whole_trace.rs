//! A trace that was read as a whole.

use std::io::Read;

use freehold_trace::{Ending, EventLog, Origin, Snapshot, TraceReader};

use crate::sections::{PresentSections, SectionSearch};
use crate::trace::Trace;

/// A trace that was read as a whole.
#[derive(Clone, Debug)]
pub struct WholeTrace {
    /// Where the trace comes from.
    pub origin: Origin,
    /// The machine's state at the start.
    pub start: Snapshot,
    /// The events, sorted by time.
    pub events: EventLog,
    /// What was recorded at the end; `None` if the recording was cut short.
    pub ending: Option<Ending>,
    /// What renumbered the frames, if the machine has large holes of memory: they are left out.
    pub sections: Option<PresentSections>,
}

impl WholeTrace {
    /// Reads a trace. `open` opens it; where the machine has large holes of memory, it is opened and read once more.
    ///
    /// # Errors
    /// Those of `open`, and of a [`TraceReader`].
    pub fn read<R: Read, E: From<freehold_trace::TraceError>>(
        mut open: impl FnMut() -> Result<TraceReader<R>, E>,
    ) -> Result<Self, E> {
        let mut reader = open()?;
        let (start, sections) = start_without_holes(&reader, open)?;
        let mut events = EventLog::default();
        while let Some(batch) = reader.next_batch()? {
            match &sections {
                Some(sections) => events.extend(batch.iter().map(|event| sections.event(*event))),
                None => events.extend(batch.iter().copied()),
            }
        }
        let mut ending = reader.ending().cloned();
        if let Some((sections, ending)) = sections.as_ref().zip(ending.as_mut()) {
            sections.ending(ending);
        }
        Ok(Self { origin: reader.origin().clone(), start, events, ending, sections })
    }

    /// Returns the trace as the lab takes it.
    pub fn trace(&self) -> Trace<'_> {
        Trace { origin: &self.origin, start: &self.start, events: &self.events, ending: self.ending.as_ref() }
    }
}

/// Returns the machine at the start of a trace. If it has large holes of memory, they are left out, and what renumbers
/// the events' frames is returned, too; the trace is opened once more for that.
///
/// # Errors
/// Those of `open`, and of a [`TraceReader`].
pub fn start_without_holes<R: Read, E: From<freehold_trace::TraceError>>(
    reader: &TraceReader<R>,
    open: impl FnOnce() -> Result<TraceReader<R>, E>,
) -> Result<(Snapshot, Option<PresentSections>), E> {
    let mut start = reader.start().clone();
    let Some(mut search) = SectionSearch::new(&start) else { return Ok((start, None)) };
    let mut again = open()?;
    while let Some(batch) = again.next_batch()? {
        search.events(batch);
    }
    let mut sections = search.finish();
    sections.start(&mut start);
    Ok((start, Some(sections)))
}
