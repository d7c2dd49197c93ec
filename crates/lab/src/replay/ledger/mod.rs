//! Who holds what in a replay: traced blocks go in, the replayed blocks that stand for them come out.

mod holders;
mod moved;
mod page_cache;
mod places;
mod traced;
mod tries;

pub(super) use holders::{FreedBy, Holders};
pub(super) use traced::{At, Pages};
