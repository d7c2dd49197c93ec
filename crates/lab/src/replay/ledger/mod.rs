//! Who holds what in a replay: traced blocks go in, the replayed blocks that stand for them come out.

mod holders;
mod moved;
mod page_cache;
mod places;
mod traced;

pub(super) use holders::Holders;
pub(super) use moved::MovedBlocks;
pub(super) use page_cache::PageCache;
pub(super) use places::{Holder, Places};
pub(super) use traced::{At, Entry, Pages, Traced, TracedFrames};
