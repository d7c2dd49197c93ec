//! Recording: in come a live machine's page events and its state at both ends, out they go to a sink.
//!
//! Tracing starts before the start snapshot is taken and ends after the end snapshot, so
//! that no event falls between a snapshot and the trace; a replay reconciles the overlap by
//! each frame's first event.

mod command;
mod cost;
mod effect;
mod limits;
mod once;
mod options;
mod origin;
mod run;
mod rusage;
mod session;
mod signals;

pub use effect::record_measured;
pub use once::record;
pub use options::{Progress, RecordOptions, RecordReport};
