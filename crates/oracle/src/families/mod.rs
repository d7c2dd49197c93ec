//! Families of scripts: in come a family, a seed and a number of steps, out comes a script. Each family looks for
//! differences in another part of the allocator.
//!
//! Family, seed and number of steps determine a script to the last bit. Writers do not
//! know what is refused when the script is played; they believe that every request is
//! granted, and a step on a slot that stayed empty does nothing.

mod building;
mod churn;
mod family;
mod fuzz;
mod orders;
mod percpu;
mod pressure;
mod ranges;
mod settings;
mod types;

pub use family::Family;
