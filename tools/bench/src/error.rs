//! Why a benchmark failed.

use freehold::{AllocError, BlockError, FreeError, SetupError};

/// Why a benchmark failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// The engine refused the configuration: an error in Freehold.
    #[error("the engine cannot be set up for the benchmark")]
    Setup(#[from] SetupError),
    /// A pageblock did not take its type: an error in Freehold.
    #[error("a pageblock of the benchmark cannot be given its type")]
    Block(#[from] BlockError),
    /// A request failed although there is room: an error in Freehold.
    #[error("a request of the benchmark was refused")]
    Alloc(#[from] AllocError),
    /// A free failed: an error in Freehold.
    #[error("a free of the benchmark was refused")]
    Free(#[from] FreeError),
    /// A side returned wrong results: an error in Freehold or in a peer.
    #[error("{side}: {what}; its figures would mean nothing")]
    Wrong {
        /// The name of the side.
        side: String,
        /// The wrong behaviour.
        what: String,
    },
    /// The system does not let a thread be pinned.
    #[error("a thread cannot be pinned to a processor; run where sched_setaffinity is allowed")]
    Pin(#[source] std::io::Error),
    /// A picture could not be drawn: an error in Freehold.
    #[error("the picture cannot be drawn: {what}")]
    Picture {
        /// The fault.
        what: String,
    },
    /// A side in another process did not work.
    #[error("{side}: {what}; {remedy}")]
    Outside {
        /// The name of the side.
        side: String,
        /// The fault.
        what: String,
        /// The remedy.
        remedy: &'static str,
    },
    /// This process, a side, cannot read from the benchmark or answer it.
    #[error("the other benchmark cannot be answered; this program is started by its option --outside")]
    Talk(#[source] std::io::Error),
    /// The machine lacks memory for the benchmark.
    #[error("{} MiB of memory are not available for the benchmark; free some, or run it with --quick", bytes >> 20)]
    Memory {
        /// The requested bytes.
        bytes: u64,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
    /// This machine's free blocks cannot be read.
    #[error("this machine's free blocks cannot be read")]
    Sensor(#[source] Box<freehold_linux::Error>),
    /// The options do not fit the benchmark.
    #[error("{what}")]
    Options {
        /// The misfit, and the remedy.
        what: String,
    },
    /// A thread of a benchmark panicked: an error in Freehold.
    #[error("a thread of the benchmark stopped before its end")]
    Stopped,
}
