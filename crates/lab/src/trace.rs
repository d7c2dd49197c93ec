//! A trace in memory.

use freehold_trace::{Ending, EventLog, Origin, Snapshot};

/// A trace in memory, as a reader has loaded it.
#[derive(Clone, Copy, Debug)]
pub struct Trace<'t> {
    /// Where it comes from.
    pub origin: &'t Origin,
    /// The machine's state at the start, occupancy included where it was recorded.
    pub start: &'t Snapshot,
    /// The events, sorted by time.
    pub events: &'t EventLog,
    /// What is known since the recording ended, if it ended.
    pub ending: Option<&'t Ending>,
}
