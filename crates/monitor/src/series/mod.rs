//! A series of samples: samples come in; models with trends, and a history, go out.
//!
//! `monitor.rs` adds to a model what only several samples show; `history.rs` keeps the past.

mod history;
mod monitor;
mod queue;

pub use history::{History, Point, ZonePoint};
pub use monitor::Monitor;

pub(super) use monitor::TREND_SECONDS;
