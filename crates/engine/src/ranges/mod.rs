//! Frames by their number go in: into service, into isolation, or to one owner.

mod contiguous;
mod isolation;
mod onlining;
mod restore;

pub use restore::ZoneState;
