//! Opens traces and reads whole traces.

use std::fs::File;
use std::io::BufReader;

use anyhow::Context;
use freehold_lab::{Lab, PresentSections, Trace, WholeTrace, start_without_holes};
use freehold_measure::grouped;
use freehold_trace::{EventKind, Origin, ReadOptions, Snapshot, TraceReader};

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
        note_cut_short(input);
    }
}

fn note_cut_short(input: &Input) {
    let name = input.trace.display();
    output::note(&format!(
        "freehold: {name}: the recording was cut short; the machine's state at its end is not known"
    ));
}

/// A trace in memory.
pub(super) struct Loaded {
    /// The path that the user gave.
    pub(super) name: String,
    whole: WholeTrace,
}

/// Returns the machine at the start of a trace. If it has large holes of memory, they are left out, and what renumbers the
/// events' frames is returned, too; the trace is read once more for that.
pub(super) fn without_holes(
    reader: &Reader,
    input: &Input,
) -> Result<(Snapshot, Option<PresentSections>), Failure> {
    let (start, sections) = start_without_holes(reader, || open(input))?;
    note_holes(sections.as_ref(), input);
    Ok((start, sections))
}

/// Says on standard error that holes of memory were left out, if any were.
fn note_holes(sections: Option<&PresentSections>, input: &Input) {
    let Some((recorded, kept)) = sections.map(PresentSections::spanned) else { return };
    output::note(&format!(
        "freehold: {}: the zones span {} pages, the sections with memory {}; frames are numbered without the holes",
        input.trace.display(),
        grouped(recorded),
        grouped(kept)
    ));
}

/// Reads a whole trace.
pub(super) fn whole(input: &Input) -> Result<Loaded, Failure> {
    let whole = WholeTrace::read(|| open(input))?;
    note_holes(whole.sections.as_ref(), input);
    if whole.ending.is_none() {
        note_cut_short(input);
    }
    Ok(Loaded { name: input.trace.display().to_string(), whole })
}

impl Loaded {
    /// Returns the trace as the lab takes it.
    pub(super) fn trace(&self) -> Trace<'_> {
        self.whole.trace()
    }

    /// Returns the lab for this trace.
    pub(super) fn lab(&self) -> Result<Lab<'_>, Failure> {
        Lab::new(self.trace()).map_err(|error| self.failure(error))
    }

    /// Returns the pages that were asked for.
    pub(super) fn asked_pages(&self) -> u64 {
        let mut pages = 0;
        self.whole.events.for_each(|event| {
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
        let Origin { kernel_release, cpus, .. } = &self.whole.origin;
        let span = self.whole.events.first().zip(self.whole.events.last());
        let seconds = span.map_or(0.0, |(first, last)| (last.time_ns - first.time_ns) as f64 / 1e9);
        let kernel = if kernel_release.is_empty() { "an unnamed kernel" } else { kernel_release };
        let events = grouped(self.whole.events.len() as u64);
        let line = format!("{}: {events} events in {seconds:.1} s, {kernel}, {cpus} CPUs", self.name);
        freehold_measure::foreign::one_line(&line).into_owned()
    }
}
