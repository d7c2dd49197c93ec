//! Ranges of frame numbers come in; these frames are allocated, isolated, or taken into or out of service.

mod by_address;
mod contiguous;
mod evacuation;
mod isolation;
mod migration;
mod offlining;
mod onlining;

pub use migration::RangeMigration;
