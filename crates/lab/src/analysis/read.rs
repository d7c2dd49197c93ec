//! Analyses a trace as it is read, without keeping its events.

use std::io::Read;

use freehold_trace::{TraceError, TraceReader};

use super::analyzer::Analyzer;
use super::findings::Analysis;
use crate::error::LabError;
use crate::loaded::{note_if_cut_short, without_holes};

/// Analyses a trace. `open` returns its reader; it is called twice where the machine has large holes of memory. `note` takes
/// what the user should know of the trace, a sentence each, and `failed` makes an error of one of the lab's.
///
/// # Errors
/// Every one of `open` and of the reader, and a snapshot that describes no machine.
pub fn analyze<R: Read, E: From<TraceError>>(
    name: &str,
    mut open: impl FnMut() -> Result<TraceReader<R>, E>,
    mut note: impl FnMut(&str),
    failed: impl FnOnce(LabError) -> E,
) -> Result<Analysis, E> {
    let mut reader = open()?;
    let (start, sections) = without_holes(name, reader.start(), open, &mut note)?;
    let mut analyzer = Analyzer::new(&start).map_err(failed)?;
    while let Some(batch) = reader.next_batch()? {
        match &sections {
            Some(sections) => {
                analyzer.add(&batch.iter().map(|event| sections.event(*event)).collect::<Vec<_>>());
            }
            None => analyzer.add(batch),
        }
    }
    note_if_cut_short(name, &reader, note);
    Ok(analyzer.finish())
}
