//! Freed blocks of one CPU come in; the newest go out first, and blocks above `high` go back to the zone.

mod cpu_lists;
mod list;
mod owners;
#[cfg(feature = "introspect")]
mod saved_state;
mod tuning;

pub use cpu_lists::PerCpuSettings;
pub(crate) use cpu_lists::{BATCH_SCALE_MAX, LISTS, ListNumber, PerCpuLists, listed_up_to, stack_places};
pub(crate) use list::PerCpuList;
pub(crate) use owners::Owners;
#[cfg(feature = "introspect")]
pub use saved_state::PerCpuState;
pub(crate) use tuning::Pressure;
