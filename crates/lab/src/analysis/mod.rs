//! What a trace asks of any allocator: its events go in, in one pass; tables and pictures come out.
//!
//! An [`Analyzer`] takes the events; its memory depends on the machine's size, not on the number of events.
//! Nothing is replayed: the result holds for every allocator.
//!
//! Lifetimes are of pages: when a block is freed in parts, each page's life ends with its own part, and all count
//! under the request that allocated the block.

mod analyzer;
mod bursts;
mod findings;
mod frames;
mod gfp_class;
mod histogram;
mod pageblocks;
#[cfg(feature = "report")]
mod pictures;
mod read;
mod requests;
mod rows;
mod tables;
mod timeline;

pub use analyzer::Analyzer;
pub use bursts::Burst;
pub use findings::{Analysis, CpuShare, Unseen};
pub use histogram::{OCTAVES, rounded_up};
pub use pageblocks::{Arrival, Mixture, Pageblocks, Scatter};
#[cfg(feature = "report")]
pub use pictures::Picture;
pub use read::analyze;
pub use rows::{Fate, GfpClass, Lifetimes, OrderUse};
pub use timeline::{Step, Timeline};
