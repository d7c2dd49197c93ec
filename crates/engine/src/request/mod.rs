//! Requests and frees go in; frames come out, or why not.

mod alloc;
mod attempt;
mod direct_reclaim;
mod exclusive;
mod free;
mod many;
mod slowpath;

pub use exclusive::Exclusive;
