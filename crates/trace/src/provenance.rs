//! Where a trace comes from and what recording it cost.

use serde::{Deserialize, Serialize};

/// What is known when a recording starts.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Origin {
    /// `uname -r`, or empty where unknown.
    pub kernel_release: String,
    /// `uname -m`.
    pub architecture: String,
    /// CPU model as `/proc/cpuinfo` names it, or empty.
    pub cpu_model: String,
    /// Number of online CPUs.
    pub cpus: u32,
    /// Bytes in a page.
    pub page_bytes: u64,
    /// The recorded command, or empty for a whole-machine recording.
    pub command: Vec<String>,
    /// What made the file: `record` or `import`, with the Freehold version.
    pub recorder: String,
    /// Seconds since 1970-01-01 UTC when the recording started, or 0.
    pub started_unix_s: u64,
    /// The clock of `time_ns` as tracefs names it (`mono`, `local`, …).
    pub clock: String,
}

/// What is known only when a recording ends.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Ending {
    /// The machine's state at the end; its occupancy is not recorded.
    pub snapshot: Option<super::Snapshot>,
    /// Events that the kernel dropped, by CPU.
    pub lost_by_cpu: Vec<u64>,
    /// Exit code of the recorded command, if there was one.
    pub command_exit: Option<i32>,
    /// What the recorder itself did to the machine.
    pub disturbance: Disturbance,
}

/// What the recorder itself did to the machine.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Disturbance {
    /// CPU time of the recorder, user and system, in nanoseconds.
    pub cpu_ns: u64,
    /// Wall time of the recording in nanoseconds.
    pub wall_ns: u64,
    /// Recorded events that the recorder caused itself.
    pub own_events: u64,
    /// Pages the kernel set aside for the ring buffers, all CPUs.
    pub buffer_pages: u64,
}
