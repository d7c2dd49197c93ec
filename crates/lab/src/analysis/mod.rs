//! The requests of a trace, without a replay: events come in, in one pass; tables and pictures go out.
//!
//! An [`Analyzer`] takes the events. Its memory depends only on the size of the machine. `frames.rs` maps each frame
//! to the request that allocated it; `requests.rs`, `fallbacks.rs`, `histogram.rs`, `bursts.rs`, `timeline.rs` and `pageblocks.rs`
//! count. Lifetimes belong to pages: if a block is freed in parts, the life of each page ends with its own part, and
//! counts for the request that allocated the block. `peak.rs` finds when most memory is
//! in use. `rows.rs`, `tables.rs` and `pictures.rs` render the result.

mod analyzer;
mod bursts;
mod fallbacks;
mod findings;
mod frames;
mod gfp_class;
mod histogram;
mod pageblocks;
mod peak;
#[cfg(feature = "report")]
mod pictures;
mod read;
mod requests;
mod rows;
mod tables;
mod timeline;

pub use analyzer::Analyzer;
pub use bursts::Burst;
pub use fallbacks::{Fallback, FallbackCounter, FallbackTask, Fallbacks};
pub use findings::{Analysis, CpuShare, Unseen};
pub use histogram::{OCTAVES, rounded_up};
pub use pageblocks::{Arrival, Mixture, Pageblocks, Scatter};
pub use peak::{Peak, PeakRequest, peak};
#[cfg(feature = "report")]
pub use pictures::AnalysisPicture;
pub use read::analyze;
pub use rows::{GfpClass, Lifetimes, OrderUse, PageFate};
pub use timeline::{TimeStep, Timeline};
