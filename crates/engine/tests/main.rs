//! The tests of the engine in one program, because every program must be linked and compiles the shared modules again.
//!
//! `interrupts`, `loom` and `small` are separate programs: they need signals, the model checker and Miri.

mod adapters;
mod aged;
mod bad_frees;
mod builder;
mod by_address;
mod churn;
mod cma;
mod common;
mod compaction;
mod direct_switches;
mod drains;
mod edges;
mod embedder;
mod exclusive;
mod fail_nth;
mod fast_paths;
mod gfp;
mod hotplug;
mod isolation;
mod model;
mod naive;
mod owners;
mod render;
mod reserves;
mod rules;
mod sections;
mod switches;
mod threads;
mod tidying;
mod twins;
mod zones;
