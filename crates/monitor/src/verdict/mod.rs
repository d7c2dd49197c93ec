//! Verdicts: in come a machine's readings and what is asked, out comes how it can give that: now, after compaction,
//! after reclaim, or not at all.
//!
//! [`judge`] is the entry point. It rests on every pageblock's pages, not on totals: [`compact`] foretells
//! what a full compaction of a zone would leave, by walking the pageblocks as the kernel's two scanners do.

mod answer;
mod asked;
mod blocks;
mod compaction;
mod evidence;
mod holders;
mod judge;
mod sentences;
mod supply;

pub use answer::{State, Verdict};
pub use asked::Asked;
pub use blocks::{Block, blocks_of};
pub use compaction::{Care, Compacted, Fate, Foretold, Limits, Mobility, compact, likely_type};
pub use evidence::{Evidence, Names, SlabShare};
pub use holders::{Holder, HolderKind, Named};
pub use judge::judge;
pub use supply::{Supply, ZoneSupply};
