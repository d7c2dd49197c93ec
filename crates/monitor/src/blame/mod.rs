//! Who keeps blocks of memory from becoming free: unmovable pages and their allocations come in, a table by holder and code and a
//! graph of stacks go out.
//!
//! [`Blame::of`] is the entry point, and [`CodeInUse::of`] that of what the kernel counts by code for the whole machine. A block that such pages are in is *kept*: however much is moved away, it stays in pieces.

mod answer;
mod code_in_use;
mod folded;
mod holders;
mod kept;
mod movable;
mod named_blocks;
mod same_size;
mod scaled;
mod text;

pub use answer::{Blame, Readings, Row};
pub use code_in_use::{CodeInUse, CodeKind, CodeSite};
pub use folded::folded;
pub use movable::MovableOnly;
pub use named_blocks::NamedBlocks;
