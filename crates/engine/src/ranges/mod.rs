//! Frames go in by their numbers: into service, into isolation, or to one owner.

mod contiguous;
mod isolation;
mod onlining;
mod restore;

pub use restore::ZoneState;
