//! Runs the workload and writes its trace.

use std::io::Write;

use freehold_trace::{Ending, TraceError, TraceWriter, WriteOptions};

use super::host::on_a_host;
use super::mmap_read::MmapRead;
use super::plan::Plan;
use crate::error::LabError;

/// A trace could not be generated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// The plan is invalid, or the engine failed.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// The trace cannot be written.
    #[error(transparent)]
    Trace(#[from] TraceError),
}

/// The size of a generated trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Generation {
    /// The number of events.
    pub events: u64,
    /// The time from the first snapshot to the last, in nanoseconds.
    pub time_ns: u64,
}

/// The number of events that are written at once.
const BATCH: usize = 1 << 16;

/// Generates a trace into a sink, and returns the sink.
///
/// # Errors
/// The errors of [`Plan::check`] and of writing.
pub fn write<W: Write>(
    plan: &Plan,
    sink: W,
    options: WriteOptions,
) -> Result<(W, Generation), GenerateError> {
    plan.check()?;
    on_a_host(&plan.ground(), |mut host| {
        let mut load = MmapRead::settled(&mut host);
        let start = host.start_recording();
        let mut writer = TraceWriter::create(sink, options, &plan.origin(), &start)?;
        let mut is_done = false;
        while !is_done {
            load.step(&mut host);
            is_done = match plan.events {
                Some(events) => host.recorded() >= events,
                None => load.is_done(),
            };
            if is_done || host.waiting() >= BATCH {
                host.hand_over(|events| events.iter().try_for_each(|event| writer.push(event)))?;
            }
        }
        host.check(&plan.variant)?;
        let end = host.end();
        let time_ns = end.time_ns.saturating_sub(start.time_ns);
        let generation = Generation { events: writer.events(), time_ns };
        let sink = writer.finish(&Ending { snapshot: Some(end), ..Ending::default() })?;
        Ok((sink, generation))
    })
}
