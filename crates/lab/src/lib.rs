//! The replay lab: one recorded trace, every generation of the allocator.
//!
//! [`Lab::new`] works out from a [`Trace`] the recorded machine and the state that it
//! started from; [`Lab::replay`] follows the events through one [`Variant`] of the
//! allocator, and [`Lab::compare`] through all of them. What comes out are [`Measures`],
//! tables and plain sentences; nothing here prints, opens a file or decides what to do.
//!
//! [`analysis`] says what the trace itself holds, without a replay.
//!
//! Pages that the trace names stand for pages that the replay was given: each era places
//! them where it would have.
#![deny(unsafe_code)]

pub mod analysis;
mod anonymize;
mod columns;
#[cfg(feature = "report")]
mod columns_file;
mod compare;
mod counts;
mod error;
mod loaded;
#[cfg(feature = "report")]
mod palette;
#[cfg(feature = "report")]
pub mod parquet_file;
pub mod predict;
mod recorded;
mod replay;
#[cfg(feature = "report")]
mod report;
mod sections;
mod start;
pub mod sweep;
mod trace;
pub mod workload;

pub use anonymize::{Anonymizer, Differing, differing};
pub use columns::{Column, Columns};
#[cfg(feature = "report")]
pub use columns_file::ColumnsError;
pub use compare::{
    Attributed, Bound, Chance, CompareOptions, Comparison, EndDistance, EraStep, Hindsight, MOST_SHIFTS,
    Measured, Rival, SCREEN, Section, Summary, Trust, TrustPart, UNTOLD, ZoneDistance, trust_table,
};
pub use counts::{ByOrder, ByOrderAndType};
pub use error::{LabError, sentence};
pub use loaded::{Loaded, note_if_cut_short, without_holes};
pub use recorded::{CpuGaps, FallbackCount, Gap, Gaps, MoveCost, Recorded, RecordedCounters, RecordedWork};
pub use replay::{
    Agreed, Agreement, Background, Control, FallbackPlace, Followed, Lab, Looks, MapCell, Measures, Moment,
    Options, OverTime, PARTS, PageblockMap, Parting, Replaced, Replay, Rule, Sample, Timing, Variant,
    ZoneFree, ZoneSample, nearest_era,
};
#[cfg(feature = "report")]
pub use report::{Provenance, Report, ReportFile};
pub use sections::{PresentSections, SectionSearch};
pub use start::{
    BlockTypes, Corrections, ExactReport, FirstUse, FirstUses, FitReport, Machine, Occupancy, Start,
    StartReport, ZoneFit,
};
pub use trace::Trace;
