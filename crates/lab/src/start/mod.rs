//! The state that a replay starts from: a trace's start snapshot and its events go in, a memory in the machine's
//! state comes out.

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
