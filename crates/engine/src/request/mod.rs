//! Requests and frees go in; frames come out, or why not.

mod alloc;
mod attempt;
mod exclusive;
mod free;
mod help;
mod many;
mod slowpath;

pub use exclusive::Exclusive;
