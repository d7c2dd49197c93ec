//! The start state of a replay: start snapshot and events of a trace come in, a memory in the state of the machine
//! goes out.
//!
//! `machine.rs` reads the snapshot; `marks.rs` and `bounds.rs` compute watermarks and list bounds from sysctls.
//! `prepass.rs` derives the start state of each frame from its first event, `occupancy.rs` its use; `plausible.rs`
//! generates an occupancy if none was recorded. `fit.rs` chooses pageblock types and `lists.rs` the pages on per-CPU
//! lists; `exact.rs` replaces both if the recorder read all lists. `state.rs` writes the result into a memory.

mod bounds;
mod exact;
mod exact_report;
mod fit;
mod fit_search;
mod geometry;
mod lists;
mod machine;
mod marks;
mod occupancy;
mod plausible;
mod prepass;
mod state;

pub use exact_report::ExactReport;
pub use fit::FitReport;
pub use fit_search::ZoneFit;
pub use geometry::BlockTypes;
pub(crate) use geometry::{free_pageblocks, locate, target_of};
pub use machine::RecordedMachine;
pub(crate) use marks::SetSysctls;
pub use occupancy::{Corrections, StartOccupancy};
pub use prepass::{FirstUse, FirstUses};
pub use state::{Start, StartReport};
