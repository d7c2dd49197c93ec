//! Whether a machine can give blocks of an order: now, after compaction, after reclaim, or not at all.
//!
//! [`judge`] is the entry point. It rests on every pageblock's pages, not on totals: [`compact`] foretells
//! what a full compaction of a zone would leave, by walking the pageblocks as the kernel's two scanners do.

mod asked;
mod compaction;
mod evidence;
mod holders;
mod judge;
mod sentences;
mod supply;

pub use asked::{Asked, Supply, ZoneSupply};
pub use compaction::{Care, Compacted, Fate, Foretold, Limits, Mobility, compact, likely_type};
pub use evidence::{Evidence, Names, SlabShare};
pub use holders::{Holder, HolderKind, Named};
pub use judge::{State, Verdict, judge};
pub use supply::{Block, blocks_of};
