//! The benchmarks of the engine, a table each, with and without the system that it measures.
//!
//! [`run`] runs one [`Bench`] and returns a [`Report`]: tables, a digest of the work, and [`Chart`]s,
//! which [`draw`] makes a picture of. Every benchmark warms up, interleaves its sides, and reports the
//! median and the spread of many rounds. To measure another allocator, implement [`Pages`].
#![deny(unsafe_code)]

mod bench;
mod error;
mod harness;
mod options;
mod output;
#[cfg(feature = "peers")]
mod peers;
mod tables;

pub use bench::{Bench, check, run};
pub use error::BenchError;
pub use harness::{
    BLOCK, Digest, LockedHandle, OwnedHandle, Pages, START, Setup, SpinPlatform, Summary, batch, interleave,
    mixture, pairs,
};
pub use options::{Options, Outside, Scale};
pub use output::{Chart, Report, draw};
#[cfg(feature = "peers")]
pub use peers::{serve, serve_engine};
pub use tables::Work;
