//! Opens traces and reads whole traces.

use std::fs::File;
use std::io::BufReader;

use anyhow::Context;
use freehold_lab::{Lab, PresentSections, SectionSearch, Trace};
use freehold_measure::grouped;
use freehold_trace::{Ending, EventKind, EventLog, Origin, ReadOptions, Snapshot, TraceReader};

use crate::args::Input;
use crate::exit::{Cause, Failure};
use crate::output;

/// The reader of a trace file.
pub(super) type Reader = TraceReader<BufReader<File>>;

/// Opens a trace and reads its header.
pub(super) fn open(input: &Input) -> Result<Reader, Failure> {
    let name = input.trace.display().to_string();
    let file = File::open(&input.trace)
        .with_context(|| format!("{name}: the trace cannot be opened; check the path"))
        .map_err(|error| Failure::new(Cause::Input, error))?;
    let mut options = ReadOptions::new(&name);
    options.partial = input.partial;
    Ok(TraceReader::open(BufReader::with_capacity(1 << 20, file), options)?)
}

/// Warns on standard error if the recording was cut short. Must be called after all events were read.
pub(super) fn warn_if_cut_short(reader: &Reader, input: &Input) {
    if reader.is_cut_short() {
        let name = input.trace.display();
        output::note(&format!(
            "freehold: {name}: the recording was cut short; the machine's state at its end is not known"
        ));
    }
}

/// A trace in memory.
pub(super) struct Loaded {
    /// The path that the user gave.
    pub(super) name: String,
    origin: Origin,
    start: Snapshot,
    events: EventLog,
    ending: Option<Ending>,
}

/// Returns the machine at the start of a trace. If it has large holes of memory, they are left out, and what renumbers the
/// events' frames is returned, too; the trace is read once more for that.
pub(super) fn without_holes(
    reader: &Reader,
    input: &Input,
) -> Result<(Snapshot, Option<PresentSections>), Failure> {
    let mut start = reader.start().clone();
    let Some(mut search) = SectionSearch::new(&start) else { return Ok((start, None)) };
    let mut again = open(input)?;
    while let Some(batch) = again.next_batch()? {
        search.events(batch);
    }
    let mut sections = search.finish();
    sections.start(&mut start);
    let (recorded, kept) = sections.spanned();
    output::note(&format!(
        "freehold: {}: the zones span {} pages, the sections with memory {}; frames are numbered without the holes",
        input.trace.display(),
        grouped(recorded),
        grouped(kept)
    ));
    Ok((start, Some(sections)))
}

/// Reads a whole trace.
pub(super) fn whole(input: &Input) -> Result<Loaded, Failure> {
    let mut reader = open(input)?;
    let (start, sections) = without_holes(&reader, input)?;
    let mut events = EventLog::default();
    while let Some(batch) = reader.next_batch()? {
        match &sections {
            Some(sections) => events.extend(batch.iter().map(|event| sections.event(*event))),
            None => events.extend(batch.iter().copied()),
        }
    }
    warn_if_cut_short(&reader, input);
    let mut ending = reader.ending().cloned();
    if let Some((sections, ending)) = sections.as_ref().zip(ending.as_mut()) {
        sections.ending(ending);
    }
    Ok(Loaded {
        name: input.trace.display().to_string(),
        origin: reader.origin().clone(),
        start,
        events,
        ending,
    })
}

impl Loaded {
    /// Returns the trace as the lab takes it.
    pub(super) fn trace(&self) -> Trace<'_> {
        Trace { origin: &self.origin, start: &self.start, events: &self.events, ending: self.ending.as_ref() }
    }

    /// Returns the lab for this trace.
    pub(super) fn lab(&self) -> Result<Lab<'_>, Failure> {
        Lab::new(self.trace()).map_err(|error| self.failure(error))
    }

    /// Returns the pages that were asked for.
    pub(super) fn asked_pages(&self) -> u64 {
        let mut pages = 0;
        self.events.for_each(|event| {
            if let EventKind::Alloc { order, .. } = event.kind {
                pages += order.pages();
            }
        });
        pages
    }

    /// Returns a failure that names the trace.
    pub(super) fn failure(&self, error: freehold_lab::LabError) -> Failure {
        let mut failure = Failure::from(error);
        failure.error = failure.error.context(self.name.clone());
        failure
    }

    /// Returns one line that describes the recording.
    pub(super) fn headline(&self) -> String {
        let Origin { kernel_release, cpus, .. } = &self.origin;
        let span = self.events.first().zip(self.events.last());
        let seconds = span.map_or(0.0, |(first, last)| (last.time_ns - first.time_ns) as f64 / 1e9);
        let kernel = if kernel_release.is_empty() { "an unnamed kernel" } else { kernel_release };
        let events = grouped(self.events.len() as u64);
        let line = format!("{}: {events} events in {seconds:.1} s, {kernel}, {cpus} CPUs", self.name);
        freehold_measure::foreign::one_line(&line).into_owned()
    }
}
