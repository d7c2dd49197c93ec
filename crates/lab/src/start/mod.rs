//! The state that a replay starts from: a trace's start snapshot and its events come in, a memory in the machine's state goes out.
//!
//! `machine.rs` reads the snapshot; `marks.rs` and `bounds.rs` compute watermarks and list bounds from sysctls. `prepass.rs`
//! derives a frame's start from its first event, `occupancy.rs` its user; `plausible.rs` fills in what was not recorded. `fit.rs`
//! chooses pageblock types and `lists.rs` the pages on CPUs' lists; `exact.rs` replaces both if the recorder read all lists.
//! `state.rs` puts the result into a memory.

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
pub use machine::Machine;
pub(crate) use marks::SetSysctls;
pub use occupancy::{Corrections, Occupancy};
pub use prepass::{FirstUse, FirstUses};
pub use state::{Start, StartReport};
