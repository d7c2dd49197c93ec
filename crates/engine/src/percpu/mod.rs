//! Freed blocks of one CPU go in; the newest come out first, and those above `high` go back to the zone.

mod list;
mod lists;
mod tuning;

pub(crate) use list::PerCpuList;
pub(crate) use lists::{BATCH_SCALE_MAX, LISTS, ListNumber, PerCpuLists, stack_places};
pub use lists::{PerCpuSettings, PerCpuState};
pub(crate) use tuning::Pressure;
