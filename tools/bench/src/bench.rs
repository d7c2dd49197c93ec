//! The benchmarks by name.

use crate::error::BenchError;
use crate::options::Options;
use crate::output::Report;
#[cfg(feature = "peers")]
use crate::peers;
use crate::tables;

/// A benchmark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bench {
    /// The cost of a reader of statistics for a task that allocates.
    PageAlloc,
    /// The time to read the free blocks.
    PageTypeInfo,
    /// The zone lock's hold times while files are read into fragmented memory.
    Refill,
    /// The delays between exiting threads.
    Drain,
    /// The cost of counting per migratetype.
    Counts,
    /// The cost of a call in zones of up to 1 TiB.
    Scale,
    /// The cost of reading this machine's free blocks for a process that takes page faults.
    Sensor,
    /// The engine beside other page-frame allocators.
    #[cfg(feature = "peers")]
    Peers,
}

impl Bench {
    /// The engine's benchmarks in this build, which `all` runs.
    pub const ALL: &[Self] = &[
        Self::PageAlloc,
        Self::PageTypeInfo,
        Self::Refill,
        Self::Drain,
        Self::Counts,
        Self::Scale,
        #[cfg(feature = "peers")]
        Self::Peers,
    ];

    /// Returns the benchmark of this name, including those that measure the machine.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().chain([&Self::Sensor]).copied().find(|bench| bench.name() == name)
    }

    /// Returns the name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PageAlloc => "pagealloc",
            Self::PageTypeInfo => "pagetypeinfo",
            Self::Refill => "refill",
            Self::Drain => "drain",
            Self::Counts => "counts",
            Self::Scale => "scale",
            Self::Sensor => "sensor",
            #[cfg(feature = "peers")]
            Self::Peers => "peers",
        }
    }
}

/// Checks that other processes can be measured, so that a long run does not fail at its end.
///
/// # Errors
/// [`BenchError::Outside`].
pub fn check(options: &Options) -> Result<(), BenchError> {
    #[cfg(feature = "peers")]
    peers::check(options)?;
    #[cfg(not(feature = "peers"))]
    let _ = options;
    Ok(())
}

/// Runs one benchmark.
///
/// # Errors
/// See [`BenchError`].
pub fn run(bench: Bench, options: &Options) -> Result<Report, BenchError> {
    match bench {
        Bench::PageAlloc => tables::pagealloc(options),
        Bench::PageTypeInfo => tables::pagetypeinfo(options),
        Bench::Refill => tables::refill(options),
        Bench::Drain => tables::drain(options),
        Bench::Counts => tables::counts(options),
        Bench::Scale => tables::scale(options),
        Bench::Sensor => tables::sensor(options),
        #[cfg(feature = "peers")]
        Bench::Peers => peers::run(options),
    }
}
