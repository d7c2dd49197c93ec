//! One sample after the other: in come samples, out come models with what only a series tells, and a history.

mod history;
mod monitor;
mod queue;

pub use history::{History, Point, ZonePoint};
pub use monitor::Monitor;

pub(super) use monitor::TREND_SECONDS;
