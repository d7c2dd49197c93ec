//! The comparison: in come a script and a kernel's transcript of it, out comes the engine's first difference, if any.

mod check;
mod divergence;
mod state_summary;

pub use check::{CheckOptions, Verdict, check};
pub use divergence::Divergence;
