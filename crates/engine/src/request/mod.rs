//! Requests and frees come in; frames or errors go out.

mod alloc;
mod attempt;
mod batch;
mod direct_reclaim;
mod exclusive;
mod free;
mod reclaim;
mod slowpath;

pub use exclusive::Exclusive;
pub use reclaim::{DirectReclaim, NoReclaim};
