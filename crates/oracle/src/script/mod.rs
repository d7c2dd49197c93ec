//! Scripts: calls come in; files for the oracle go out.
//!
//! `shrink.rs` shortens a script that shows a difference.

mod file;
mod shrink;
mod steps;

pub use file::{FORMAT_VERSION, ScriptError};
pub use shrink::shrink;
pub use steps::{MOST_BULK, MOST_SLOTS, Op, Place, Script, Step, Tunable};

pub(super) use file::{HEADER_BYTES, number};
