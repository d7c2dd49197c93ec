//! Freed blocks of one CPU come in; the newest go out first, and blocks above `high` go back to the zone.

mod cpu_lists;
mod list;
mod tuning;

pub(crate) use cpu_lists::{BATCH_SCALE_MAX, LISTS, ListNumber, PerCpuLists, listed_up_to, stack_places};
pub use cpu_lists::{PerCpuSettings, PerCpuState};
pub(crate) use list::PerCpuList;
pub(crate) use tuning::Pressure;
