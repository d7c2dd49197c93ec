//! The options of a recording, and its report.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use freehold::Order;
use freehold_trace::Ending;

use crate::events::{Detail, EventGroup};
use crate::procfs::Occupancy;

/// The options of a recording.
///
/// Without a command and a limit a recording lasts until it is stopped.
#[derive(Clone, Debug)]
pub struct RecordOptions {
    /// The program and its arguments; if empty, the machine is recorded as it is.
    pub command: Vec<String>,
    /// The longest duration. A command that still runs gets SIGTERM, and after five seconds SIGKILL.
    pub duration: Option<Duration>,
    /// The largest size of the trace. Room is kept for what will come until the end snapshot,
    /// estimated from the last seconds. A command that still runs is then terminated.
    ///
    /// Units: bytes.
    pub max_bytes: Option<u64>,
    /// The number of events to stop after; later events until the end snapshot are kept as well.
    pub max_events: Option<u64>,
    /// Stop when a request of this order or a larger one fails.
    pub until_failure: Option<Order>,
    /// Groups of events to record besides `detail` and the marks of compaction. Groups that the
    /// kernel lacks are left out, and the trace lists them.
    pub groups: Vec<EventGroup>,
    /// Ring buffer of each CPU in KiB; `None` chooses by the size of the memory, up to 64 MiB.
    pub buffer_kib_per_cpu: Option<u64>,
    /// The events of `kmem` to record.
    pub detail: Detail,
    /// What the start snapshot contains about single frames.
    pub occupancy: Occupancy,
    /// True if the start and the end are read block by block, where BPF works.
    pub exact: bool,
    /// True if SIGINT, SIGTERM and SIGHUP end the recording cleanly. An embedder with signal handlers
    /// of its own sets this to false and uses `stop`.
    pub handle_signals: bool,
    /// Ends the recording when it becomes true.
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
            exact: true,
            handle_signals: true,
            stop: None,
        }
    }
}

/// The progress of a running recording.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Progress {
    /// Seconds since the command started.
    pub seconds: f64,
    /// Events so far.
    pub events: u64,
    /// Events per second since the last report.
    pub events_per_s: u64,
    /// Events lost so far, according to the ring buffers.
    pub lost: u64,
    /// Bytes of the trace so far; `None` if the sink does not know.
    pub bytes: Option<u64>,
}

/// The outcome of a recording.
#[derive(Clone, PartialEq, Debug)]
pub struct RecordReport {
    /// The ending that the sink got.
    pub ending: Ending,
    /// Requested events that the kernel lacks, as `GROUP:NAME`.
    pub missing_events: Vec<String>,
    /// Recorded events.
    pub events: u64,
    /// Lost events.
    pub lost: u64,
    /// Events that could not be decoded; each is recorded as lost.
    pub unreadable: u64,
    /// Events that were read too late to be sorted and got a later time.
    pub late: u64,
    /// What the user should know about the trace.
    pub warnings: Vec<String>,
    /// Instances of dead recorders that were removed.
    pub stale_removed: Vec<String>,
}
