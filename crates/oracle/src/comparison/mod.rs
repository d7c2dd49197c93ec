//! The comparison: a script and a kernel's transcript of it come in; the engine's first difference goes out, if any.
//!
//! `state_summary.rs` makes a difference readable.

mod check;
mod divergence;
mod state_summary;

pub use check::{CheckOptions, Verdict, check};
pub use divergence::Divergence;
