//! Frames go in by their numbers: into service, into isolation, or to one owner.

mod by_address;
mod contiguous;
mod evacuation;
mod isolation;
mod offlining;
mod onlining;
mod restore;

pub use restore::ZoneState;
