//! What a trace asks of any allocator: its events go in, in one pass; tables and pictures come out.
//!
//! An [`Analyzer`] takes the events; its memory depends on the machine's size, not on the number of events.
//! Nothing is replayed: what it tells is true of every allocator.
//!
//! Lifetimes are of pages: a block that is split and freed in parts ends page by page, all counted
//! under the request that allocated it.

mod analyzer;
mod bursts;
mod findings;
mod frames;
mod gfp_class;
mod histogram;
mod pageblocks;
mod pictures;
mod requests;
mod rows;
mod tables;
mod timeline;

pub use analyzer::Analyzer;
pub use bursts::Burst;
pub use findings::{Analysis, CpuShare, Unseen};
pub use histogram::{OCTAVES, rounded_up};
pub use pageblocks::{Arrival, Mixture, Pageblocks, Scatter};
pub use pictures::Picture;
pub use rows::{Fate, GfpClass, Lifetimes, OrderUse};
pub use timeline::{Step, Timeline};
