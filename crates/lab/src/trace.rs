//! A trace in memory.

use freehold_trace::{Ending, EventLog, Origin, Snapshot};

/// A trace in memory, as a reader has loaded it.
#[derive(Clone, Copy, Debug)]
pub struct Trace<'t> {
    /// Where the trace comes from.
    pub origin: &'t Origin,
    /// The machine's state at the start; with its occupancy if that was recorded.
    pub start: &'t Snapshot,
    /// The events, sorted by time.
    pub events: &'t EventLog,
    /// What was recorded at the end; `None` if the recording was cut short.
    pub ending: Option<&'t Ending>,
}
