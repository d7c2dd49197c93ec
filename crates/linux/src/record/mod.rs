//! Recording: a live machine's page events, and its state before and after, come in and go out to a sink.
//!
//! Tracing starts before the start snapshot and ends after the end snapshot, so that no event falls between a snapshot and the
//! trace. A replay reconciles the overlap by each frame's first event. `once.rs` takes the snapshots around `run.rs`, which
//! `limits.rs` ends. `observer_effect.rs` runs the command alternately without and with recording.

mod command;
mod cost;
mod limits;
mod observer_effect;
mod once;
mod options;
mod origin;
mod run;
mod rusage;
mod session;
mod signals;

pub use observer_effect::record_measured;
pub use once::record;
pub use options::{Progress, RecordOptions, RecordReport};
pub use signals::HeededSignals;
