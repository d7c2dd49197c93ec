//! Workloads by seed: a plan goes in; a trace comes out, as a recorder would have recorded it. The workloads are
//! those that the sources of the four pieces of work ran, without their machines.
//!
//! The engine is the machine. A workload consists of processes, files, slab caches and other users of pages. The
//! trace is their requests and the engine's answers, with what a recorder would have read before and after. The
//! same plan gives the same trace, byte for byte. Time is made up: an event takes a few hundred nanoseconds to
//! microseconds.

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
