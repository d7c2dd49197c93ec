//! Generated workloads: a plan with a seed comes in, a trace goes out. The same plan gives the same trace.
//!
//! `host.rs` is the generated machine: an engine, a clock and a recorder. `zones.rs` has its zones, `users.rs` the
//! users of its frames, `reclaim.rs` its `Shrinker` and `Relocate`; `host_snapshot.rs` and `counters.rs` have its
//! snapshots. The workload `mmap_read.rs` runs on it. An event takes a few hundred nanoseconds to microseconds.
//! `run.rs` writes the trace.

mod counters;
mod fallbacks;
mod files;
mod fragments;
mod host;
mod host_snapshot;
mod mmap_read;
mod plan;
mod random;
mod reclaim;
mod run;
mod slabs;
mod synthetic;
mod users;
mod zones;

pub use plan::Plan;
pub use run::{GenerateError, Generation, write};
pub use synthetic::{Generated, Synthetic};
