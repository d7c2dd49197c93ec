//! The replay lab: one recorded trace, every generation of the allocator.
//!
//! [`Lab::new`] works out from a [`Trace`] the recorded machine and the state that it
//! started from; [`Lab::replay`] follows the events through one [`Variant`] of the
//! allocator, and [`Lab::compare`] through all of them. What comes out are [`Measures`],
//! [`Table`]s and plain sentences; nothing here prints, opens a file or decides what to do.
//!
//! [`analysis`] says what the trace itself holds, without a replay.
//!
//! Pages that the trace names stand for pages that the replay was given: each era places
//! them where it would have.
#![deny(unsafe_code)]

pub mod analysis;
mod chance;
mod compaction;
mod compare;
mod comparison_tables;
mod daemons;
mod distance;
mod error;
mod fit;
mod fit_search;
mod follow;
mod gaps;
mod hindsight;
mod holders;
mod kcompactd;
pub mod knobs;
mod machine;
mod measures;
mod occupancy;
mod one_thread;
mod page_cache;
mod pageblock_map;
mod picture;
mod places;
mod plausible;
mod prepass;
mod recorded;
mod recorded_events;
mod recorded_work;
mod replay;
mod report;
mod sampling;
mod sentences;
mod setup_marks;
mod start;
mod start_lists;
pub mod sweep;
pub mod synthetic;
mod trace;
mod traced;
mod trust;
mod variant;
mod watch;
pub mod workload;

pub use chance::{Chance, MOST_SHIFTS};
pub use compare::{Comparison, Without};
pub use distance::{EndDistance, ZoneDistance};
pub use error::LabError;
pub use fit::{BlockTypes, FitReport, ZoneFit};
pub use gaps::{CpuGaps, Gap, Gaps};
pub use hindsight::{Bound, Hindsight};
pub use machine::Machine;
pub use measures::{
    ByOrder, ByOrderAndType, Followed, Measures, OverTime, Sample, Timing, ZoneFree, ZoneSample,
};
pub use occupancy::{Corrections, Occupancy};
pub use pageblock_map::{MapCell, PageblockMap};
pub use prepass::{FirstUse, FirstUses};
pub use recorded::Recorded;
pub use recorded_events::RecordedEvents;
pub use recorded_work::RecordedWork;
pub use replay::{Lab, Options, Replay};
pub use report::{Provenance, Report, ReportFile};
pub use start::{Start, StartReport};

pub use trace::Trace;
pub use trust::Trust;
pub use variant::{Variant, nearest_era};
pub use watch::FallbackCount;
