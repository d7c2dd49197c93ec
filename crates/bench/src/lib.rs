//! The benchmarks of the engine: one table each, with and without the system that it shows.
//!
//! [`run`] measures one [`Bench`] and returns a [`Report`]: tables, a digest of the work that
//! was done, and [`Chart`]s that [`draw`] makes a picture of. Every benchmark warms up,
//! interleaves its sides, and says the median and the spread of many rounds. A new way to
//! allocate is one small type that is [`Pages`].
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
    BLOCK, Digest, LockedHandle, OwnedHandle, Pages, START, Setup, SpinLocks, Summary, batch, interleave,
    mixture, pairs,
};
pub use options::{Options, Outside, Scale};
pub use output::{Chart, Report, draw};
#[cfg(feature = "peers")]
pub use peers::{serve, serve_engine};
pub use tables::Work;
