//! The replay lab: one recorded trace, every generation of the allocator.
//!
//! [`Lab::new`] works out from a [`Trace`] the recorded machine and the state that it
//! started from; [`Lab::replay`] follows the events through one [`Variant`] of the
//! allocator, and [`Lab::compare`] through all of them. What comes out are [`Measures`],
//! [`Table`]s and plain sentences; nothing here prints, opens a file or decides what to do.
//!
//! Pages that the trace names stand for pages that the replay was given: each era places
//! them where it would have.
#![deny(unsafe_code)]

mod compaction;
mod compare;
mod comparison_tables;
mod distance;
mod error;
mod fit;
mod fit_search;
mod follow;
pub mod hold_log;
mod kswapd;
mod machine;
mod measures;
mod occupancy;
mod picture;
mod plausible;
mod prepass;
mod recorded;
mod replay;
mod sampling;
mod sentences;
mod start;
pub mod synthetic;
mod table;
mod timed_mutex;
mod trace;
mod traced;
mod variant;
pub mod workload;

pub use compare::{Comparison, Without};
pub use distance::{EndDistance, ZoneDistance};
pub use error::LabError;
pub use fit::{BlockTypes, FitReport, ZoneFit};
pub use machine::Machine;
pub use measures::{
    ByOrder, ByOrderAndType, Followed, Measures, OverTime, Sample, Timing, ZoneFree, ZoneSample,
};
pub use occupancy::{Corrections, Occupancy};
pub use prepass::{FirstUse, FirstUses};
pub use recorded::Recorded;
pub use replay::{Lab, Options, Replay};
pub use start::{Start, StartReport};
pub use table::{Cell, Row, Table, grouped};
pub use timed_mutex::{ReplayLocks, TimedMutex};
pub use trace::Trace;
pub use variant::{Variant, nearest_era};
