//! Families of scripts: a family, a seed and a number of steps come in; a script goes out. Each family tests another
//! part of the allocator.
//!
//! Family, seed and number of steps determine every bit of a script. The writers of scripts assume that every request
//! succeeds. When a script is played, a step on a slot that stayed empty does nothing.

mod building;
mod churn;
mod family;
mod fuzz;
mod orders;
mod percpu;
mod pressure;
mod ranges;
mod settings;
mod tidying;
mod types;

pub use family::Family;
