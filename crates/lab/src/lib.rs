//! The replay lab: one recorded trace, every generation of the allocator.
//!
//! [`Lab::new`] computes the recorded machine and its start state from a [`Trace`].
//! [`Lab::replay`] replays the events in one [`Variant`] of the allocator, and
//! [`Lab::compare`] in all of them. The results are [`Measures`], tables and sentences.
//! The crate prints nothing, opens no file and takes no decision for the user.
//!
//! [`analysis`] describes the requests of a trace without a replay.
//!
//! A replay maps each recorded page to the page that its own allocator returned, so that
//! each era chooses the placement.
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
    Attributed, CompareOptions, Comparison, EndDistance, EraStep, Hindsight, HindsightBound, MOST_SHIFTS,
    Measured, ProactiveBaseline, Replicates, SCREEN, Section, Summary, Trust, TrustPart, UNKNOWN_RELEASE,
    ZoneDistance, trust_table,
};
pub use counts::{ByOrderAndType, CountsByOrder};
pub use error::{LabError, sentence};
pub use loaded::{Loaded, note_if_cut_short, without_holes};
pub use recorded::{CpuGaps, FallbackCount, Gap, Gaps, MoveCost, Recorded, RecordedCounters, RecordedWork};
pub use replay::{
    Agreed, Agreement, Background, Control, FallbackPlace, Followed, Lab, MapCell, Measures, Moment, Options,
    OverTime, PARTS, Parting, Replaced, Replay, ReplayPageblocks, ReplaySample, Rule, SampleDetail, Timing,
    Variant, ZoneFree, ZoneSample, nearest_era,
};
#[cfg(feature = "report")]
pub use report::{Provenance, Report, ReportFile};
pub use sections::{PresentSections, SectionSearch};
pub use start::{
    BlockTypes, Corrections, ExactReport, FirstUse, FirstUses, FitReport, RecordedMachine, Start,
    StartOccupancy, StartReport, ZoneFit,
};
pub use trace::Trace;
