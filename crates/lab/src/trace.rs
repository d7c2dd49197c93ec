//! A trace in memory.

use freehold_trace::{Ending, EventLog, Origin, Snapshot};

/// A trace in memory.
#[derive(Clone, Copy, Debug)]
pub struct Trace<'t> {
    /// The origin of the trace.
    pub origin: &'t Origin,
    /// The state of the machine at the start, with its occupancy if that was recorded.
    pub start: &'t Snapshot,
    /// The events, sorted by time.
    pub events: &'t EventLog,
    /// The record of the end; `None` if the recording was cut short.
    pub ending: Option<&'t Ending>,
}
