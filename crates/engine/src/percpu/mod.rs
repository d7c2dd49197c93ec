//! Freed blocks of one CPU go in; the newest come out first, and how many are too many.

mod list;
mod lists;
mod tuning;

pub(crate) use list::PerCpuList;
pub use lists::PerCpuSettings;
pub(crate) use lists::{BATCH_SCALE_MAX, COSTLY_ORDER, LISTS, ListNumber, PerCpuLists, stack_places};
pub(crate) use tuning::Pressure;
