//! What a recording is asked for and what it answers.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use freehold::Order;
use freehold_trace::Ending;

use crate::events::{Detail, EventGroup};
use crate::procfs::Occupancy;

/// What to record, and for how long.
///
/// With neither command nor duration a recording lasts until it is stopped.
#[derive(Clone, Debug)]
pub struct RecordOptions {
    /// The program to run and its arguments; empty: record the machine as it is.
    pub command: Vec<String>,
    /// When to stop at the latest. A command that still runs gets SIGTERM, and after five
    /// seconds SIGKILL.
    pub duration: Option<Duration>,
    /// How large the trace may become. What may still come until the end snapshot is kept free, as far as the last
    /// seconds tell how much that is; a command that still runs is then terminated.
    ///
    /// Units: bytes.
    pub max_bytes: Option<u64>,
    /// After how many events to stop; those until the end snapshot are kept as well.
    pub max_events: Option<u64>,
    /// Stop when a request of this order or a larger one fails.
    pub until_failure: Option<Order>,
    /// Which events to record besides those of `detail` and the marks of compaction. A group that the kernel
    /// does not have is left out, and the trace says so.
    pub groups: Vec<EventGroup>,
    /// Ring buffer of each CPU in KiB; `None`: by the size of the memory, up to 64 MiB.
    pub buffer_kib_per_cpu: Option<u64>,
    /// Which events to record.
    pub detail: Detail,
    /// What the start snapshot tells of single frames.
    pub occupancy: Occupancy,
    /// True if SIGINT, SIGTERM and SIGHUP end the recording in good order. An embedder with
    /// signal handlers of its own switches this off and uses `stop`.
    pub handle_signals: bool,
    /// Ends the recording when set.
    pub stop: Option<Arc<AtomicBool>>,
}

impl Default for RecordOptions {
    fn default() -> Self {
        Self {
            command: Vec::new(),
            duration: None,
            max_bytes: None,
            max_events: None,
            until_failure: None,
            groups: EventGroup::ALL.to_vec(),
            buffer_kib_per_cpu: None,
            detail: Detail::Requests,
            occupancy: Occupancy::Read,
            handle_signals: true,
            stop: None,
        }
    }
}

/// How a running recording fares.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Progress {
    /// Since the command started.
    pub seconds: f64,
    /// Events so far.
    pub events: u64,
    /// Events a second since the last report.
    pub events_per_s: u64,
    /// Events lost so far, as far as the ring buffers have told.
    pub lost: u64,
    /// Bytes of the trace so far, where its sink can tell.
    pub bytes: Option<u64>,
}

/// How a recording went.
#[derive(Clone, PartialEq, Debug)]
pub struct RecordReport {
    /// What the sink got at the end.
    pub ending: Ending,
    /// Events that were asked for and that this kernel does not have, as `GROUP:NAME`.
    pub missing_events: Vec<String>,
    /// Events, lost ones not counted.
    pub events: u64,
    /// Events that are missing.
    pub lost: u64,
    /// Events that could not be decoded; each is in the trace as one that was lost.
    pub unreadable: u64,
    /// Events that came too late for their place and were given a later time.
    pub late: u64,
    /// What the user should know about the trace.
    pub warnings: Vec<String>,
    /// Instances of dead recorders that were removed.
    pub stale_removed: Vec<String>,
}
