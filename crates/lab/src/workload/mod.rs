//! Workloads by seed: a plan comes in; a trace goes out, as a recorder would have recorded it. The same plan gives the same trace.
//!
//! `host.rs` is the machine: an engine, a clock and a recorder. `zones.rs` has its zones, `users.rs` the users of its frames,
//! `reclaim.rs` its `Shrinker` and `Relocate`; `host_snapshot.rs` and `counters.rs` are what a recorder reads. On it runs
//! `pagealloc.rs`, `boot_free.rs`, `mmap_read.rs`, `mix.rs` (fitted by `mix_fit.rs`) or `memcache_kbuild_thp.rs`. These are the
//! workloads of the four pieces of work, without their machines. An event takes a few hundred nanoseconds to microseconds.
//! `target.rs` receives the trace.

mod boot_free;
mod cache_server;
mod counters;
mod fallbacks;
mod files;
mod fragments;
mod host;
mod host_snapshot;
mod hygiene;
mod hygiene_seed;
mod kbuild;
mod lifetimes;
mod load;
mod memcache_kbuild_thp;
mod mix;
mod mix_fit;
mod mmap_read;
mod pagealloc;
mod plan;
mod processes;
mod random;
mod reclaim;
mod run;
mod slabs;
mod spread;
mod synthetic;
mod target;
mod users;
mod zones;

pub use hygiene::{Build, Hygiene, HygieneSide};
pub use hygiene_seed::{SeedRow, TABLE as HYGIENE_SEED};
pub use mix_fit::{Mix, MixDistance, MixFit};
pub use plan::{Plan, Workload};
pub use run::{collect, write};
pub use synthetic::Synthetic;
pub use target::{GenerateError, Generated, Generation};
