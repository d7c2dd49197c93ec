//! Every benchmark by its name.

use crate::error::BenchError;
use crate::options::Options;
use crate::output::Report;
#[cfg(feature = "peers")]
use crate::peers;
use crate::tables;

/// One benchmark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bench {
    /// What a reader of statistics costs whoever allocates.
    PageAlloc,
    /// How long it takes to read the free blocks.
    PageTypeInfo,
    /// How long the zone lock is held while files are read into fragmented memory.
    Refill,
    /// How long threads that exit hold up each other.
    Drain,
    /// What counting per migratetype costs.
    Counts,
    /// What a call costs in zones of up to 1 TiB.
    Scale,
    /// What reading this machine's free blocks costs a process that takes page faults.
    Sensor,
    /// The engine beside other page-frame allocators.
    #[cfg(feature = "peers")]
    Peers,
}

impl Bench {
    /// All that this build has about the engine: what `all` stands for.
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

    /// Returns the benchmark of this name, those about the machine itself included.
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

/// Looks whether the sides that other processes measure can be asked: a long run is not to
/// find out at its end that they cannot.
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
