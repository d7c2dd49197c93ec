//! The provenance of a trace: its origin, its ending, and the cost of the recording.

use serde::{Deserialize, Serialize};

use super::observer_effect::ObserverEffect;
use super::snapshot::Snapshot;

/// The facts that are known when a recording starts.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Origin {
    /// `uname -r`, or empty if unknown.
    pub kernel_release: String,
    /// `uname -m`.
    pub architecture: String,
    /// CPU model as in `/proc/cpuinfo`, or empty.
    pub cpu_model: String,
    /// Number of online CPUs.
    pub cpus: u32,
    /// Bytes in a page.
    pub page_bytes: u64,
    /// The recorded command, or empty for a whole-machine recording.
    pub command: Vec<String>,
    /// The command that made the file, `record` or `import`, with the Freehold version.
    pub recorder: String,
    /// Seconds since 1970-01-01 UTC when the recording started, or 0.
    pub started_unix_s: u64,
    /// The clock of `time_ns` as tracefs names it (`mono`, `local`, …).
    pub clock: String,
    /// The recorded trace events as `GROUP:NAME`; empty if the recorder did not list them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<String>,
    /// Requested trace events that the kernel lacks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_events: Vec<String>,
}

/// The facts that are known only when a recording ends.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Ending {
    /// The machine's state at the end; its occupancy is not recorded.
    pub snapshot: Option<Snapshot>,
    /// Lost events by CPU.
    pub lost_by_cpu: Vec<u64>,
    /// Exit code of the recorded command, if there was a command and it ended.
    pub command_exit: Option<i32>,
    /// The load that the recorder itself caused on the machine.
    pub disturbance: Disturbance,
    /// The reason why the recording ended, if the recorder noted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<StoppedBy>,
    /// The measured value of the trigger that ended the recording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
}

/// The reason why a recording ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StoppedBy {
    /// The recorded command ended.
    Command,
    /// The duration was reached.
    Duration,
    /// The file would have become larger than allowed.
    MaxSize,
    /// The number of events was reached.
    MaxEvents,
    /// A trigger's condition became true.
    Trigger,
    /// The user requested the end: Ctrl-C, SIGTERM, SIGHUP.
    Request,
    /// A reason that this version does not know.
    #[serde(other)]
    Unknown,
}

impl StoppedBy {
    /// Returns the text for reports.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Command => "the command ended",
            Self::Duration => "the time was over",
            Self::MaxSize => "the file had the size allowed",
            Self::MaxEvents => "the number of events was reached",
            Self::Trigger => "the trigger fired",
            Self::Request => "on request",
            Self::Unknown => "something that this version does not know",
        }
    }
}

/// The load that the recorder itself caused on the machine.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Disturbance {
    /// CPU time of the recorder, user and system, in nanoseconds.
    pub cpu_ns: u64,
    /// Wall time of the recording in nanoseconds.
    pub wall_ns: u64,
    /// The number of recorded events that the recorder itself caused.
    pub own_events: u64,
    /// Pages that the kernel allocated for all CPUs' ring buffers.
    pub buffer_pages: u64,
    /// The command's times with and without recording, if they were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<ObserverEffect>,
}
