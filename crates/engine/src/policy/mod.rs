//! Rules that Linux does not have. Each has a switch in [`crate::Switches`]; without it, the engine does what Linux does.

mod bypass;
mod claims;
mod emptying;
mod tidying;
mod unmerged;
