//! Requests and frees come in; frames or errors go out.

mod alloc;
mod attempt;
mod direct_reclaim;
mod exclusive;
mod free;
mod many;
mod slowpath;

pub use exclusive::Exclusive;
