//! Requests and frees go in; frames come out, or why not.

mod alloc;
mod bulk;
mod exclusive;
mod free;
mod many;
mod slowpath;

pub use exclusive::Exclusive;
