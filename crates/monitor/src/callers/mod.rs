//! Who calls for large blocks: events of callers come in, tables by code, process and cgroup go out.
//!
//! `fold.rs` assigns the work of a task to the request that it was for, `sums.rs` adds up, `answer.rs` makes the tables, and
//! `text.rs` and `folded.rs` print.

mod answer;
mod fold;
mod folded;
mod sums;
mod text;

pub use answer::{CallerRow, Callers, StackNames};
pub use fold::CallerFold;
