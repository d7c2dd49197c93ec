//! The benchmarks of the engine: one table each, with and without the system that it shows.
//!
//! [`run`] measures one [`Bench`] and returns a [`Report`]: tables, a digest of the work that
//! was done, and [`Chart`]s that [`draw`] makes a picture of. Every benchmark warms up,
//! interleaves its sides, and says the median and the spread of many rounds. A new way to
//! allocate is one small type that is [`Pages`].
#![deny(unsafe_code)]

mod by_processor;
mod chart;
mod counts;
mod drain;
mod error;
mod handles;
mod harness;
pub mod mixture;
mod pagealloc;
mod pagetypeinfo;
#[cfg(feature = "peers")]
mod peers;
mod pin;
mod queue;
mod refill;
mod report;
mod scale;
mod sensor;
mod setup;
mod summary;

use std::path::PathBuf;

use freehold::Order;

pub use chart::{Chart, draw};
pub use counts::Work;
pub use error::BenchError;
pub use handles::{LockedHandle, OwnedHandle};
pub use harness::{Digest, Pages, batch, interleave, pairs};
#[cfg(feature = "peers")]
pub use peers::{serve, serve_engine};
pub use report::Report;
pub use setup::{BLOCK, START, Setup, SpinLocks};
pub use summary::Summary;

/// How much is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scale {
    /// A few milliseconds: whether it works at all, for tests.
    Tiny,
    /// All tables together under three minutes.
    Quick,
    /// As long as good figures take.
    Full,
}

/// A side of [`Bench::Peers`] that another process measures.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outside {
    /// A program that answers as `serve` does.
    Program(PathBuf),
    /// A User-Mode Linux with Freehold's oracle in it.
    Linux(PathBuf),
}

/// What is measured how.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// How much.
    pub scale: Scale,
    /// The orders of [`Bench::PageAlloc`]; empty for 4, 0 and 9.
    pub orders: Vec<Order>,
    /// This program, if `bench counts --work` starts it as the command line does: it is run
    /// again under valgrind to count instructions.
    pub program: Option<PathBuf>,
    /// Further sides of `bench peers`.
    pub outside: Vec<Outside>,
}

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

    /// The benchmark of this name, those about the machine itself included.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().chain([&Self::Sensor]).copied().find(|bench| bench.name() == name)
    }

    /// The name on the command line.
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
        Bench::PageAlloc => pagealloc::run(options),
        Bench::PageTypeInfo => pagetypeinfo::run(options),
        Bench::Refill => refill::run(options),
        Bench::Drain => drain::run(options),
        Bench::Counts => counts::run(options),
        Bench::Scale => scale::run(options),
        Bench::Sensor => sensor::run(options),
        #[cfg(feature = "peers")]
        Bench::Peers => peers::run(options),
    }
}
