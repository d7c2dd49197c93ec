//! Why a benchmark did not come to its end.

use freehold::{AllocError, BlockError, FreeError, SetupError};

/// Why a benchmark did not come to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// The engine refused the machine: an error in Freehold.
    #[error("the engine cannot be set up for the benchmark")]
    Setup(#[from] SetupError),
    /// A pageblock did not take its type: an error in Freehold.
    #[error("a pageblock of the benchmark cannot be given its type")]
    Block(#[from] BlockError),
    /// A request was refused where there is room for it: an error in Freehold.
    #[error("a request of the benchmark was refused")]
    Alloc(#[from] AllocError),
    /// A block was not taken back: an error in Freehold.
    #[error("a free of the benchmark was refused")]
    Free(#[from] FreeError),
    /// A side gave wrong answers: an error in Freehold or in a peer.
    #[error("{side}: {what}; its figures would mean nothing")]
    Wrong {
        /// The side.
        side: String,
        /// What it did.
        what: String,
    },
    /// The system refuses to place a thread.
    #[error("a thread cannot be pinned to a processor; run where sched_setaffinity is allowed")]
    Pin(#[source] std::io::Error),
    /// A picture could not be drawn: an error in Freehold.
    #[error("the picture cannot be drawn: {what}")]
    Picture {
        /// What went wrong.
        what: String,
    },
    /// A side in a process of its own does not do what it should.
    #[error("{side}: {what}; {remedy}")]
    Outside {
        /// Which one.
        side: String,
        /// What went wrong.
        what: String,
        /// What to do.
        remedy: &'static str,
    },
    /// The run that this process is a side of cannot be answered.
    #[error("the benchmark that asks cannot be answered; start this program by --outside")]
    Talk(#[source] std::io::Error),
    /// This machine has no room for what is measured.
    #[error("{} MiB of memory cannot be had for the benchmark; free some, or run it with --quick", bytes >> 20)]
    Memory {
        /// What was asked for.
        bytes: u64,
        /// What the system answered.
        #[source]
        source: std::io::Error,
    },
    /// Free blocks of this machine cannot be read.
    #[error("this machine's free blocks cannot be read")]
    Sensor(#[source] Box<freehold_linux::Error>),
    /// The options do not fit the table.
    #[error("{what}")]
    Options {
        /// What does not fit, and what would.
        what: String,
    },
    /// A thread of a benchmark panicked: an error in Freehold.
    #[error("a thread of the benchmark stopped before its end")]
    Stopped,
}
