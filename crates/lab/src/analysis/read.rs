//! Analyses a trace while reading it, without keeping its events.

use std::io::Read;

use freehold_trace::{Event, Snapshot, TraceError, TraceReader};

use super::analyzer::Analyzer;
use super::findings::Analysis;
use crate::error::LabError;
use crate::loaded::{note_if_cut_short, without_holes};

/// Analyses a trace. Calls `open` for its reader, twice if the machine has large memory holes. Calls `note` with each
/// sentence that the user should read about the trace. `failed` converts an error of the lab.
///
/// # Errors
/// The errors of `open` and of the reader, and a snapshot that describes no machine.
pub fn analyze<R: Read, E: From<TraceError>>(
    name: &str,
    open: impl FnMut() -> Result<TraceReader<R>, E>,
    note: impl FnMut(&str),
    failed: impl FnOnce(LabError) -> E,
) -> Result<Analysis, E> {
    Ok(read_batches(name, open, note, failed, Analyzer::new, Analyzer::add)?.finish())
}

/// Makes something of the start of a trace, and adds all events to it.
pub(super) fn read_batches<R: Read, E: From<TraceError>, Into>(
    name: &str,
    mut open: impl FnMut() -> Result<TraceReader<R>, E>,
    mut note: impl FnMut(&str),
    failed: impl FnOnce(LabError) -> E,
    new: impl FnOnce(&Snapshot) -> Result<Into, LabError>,
    mut add: impl FnMut(&mut Into, &[Event]),
) -> Result<Into, E> {
    let mut reader = open()?;
    let (start, sections) = without_holes(name, reader.start(), open, &mut note)?;
    let mut into = new(&start).map_err(failed)?;
    while let Some(batch) = reader.next_batch()? {
        match &sections {
            Some(sections) => {
                add(&mut into, &batch.iter().map(|event| sections.event(*event)).collect::<Vec<_>>());
            }
            None => add(&mut into, batch),
        }
    }
    note_if_cut_short(name, &reader, note);
    Ok(into)
}
