//! Who keeps blocks of memory from becoming free: unmovable pages and their allocations come in, a table by holder and code and a
//! graph of stacks go out.
//!
//! [`Blame::of`] is the entry point; [`CodeInUse::of`] compares two readings of `/proc/allocinfo`. A block with such a page is
//! *kept*: compaction cannot make it free. `kept.rs` assigns pages to blocks, `answer.rs` sums up by holder and code, `scaled.rs`
//! extends watched blocks to all. `movable.rs` counts pageblocks that compaction can empty, `same_size.rs` finds code by object
//! size. `owner_table.rs` sums up a dump of `page_owner` alone. `text.rs` and `folded.rs` print.

mod answer;
mod code_in_use;
mod folded;
mod holders;
mod kept;
mod movable;
mod named_blocks;
mod owner_table;
mod same_size;
mod scaled;
mod text;

pub use answer::{Blame, Readings, Row};
pub use code_in_use::{CodeInUse, CodeKind, CodeSite};
pub use folded::folded;
pub use movable::MovableOnly;
pub use named_blocks::NamedBlocks;
pub use owner_table::{OwnerRow, OwnerTable, OwnerTables};
