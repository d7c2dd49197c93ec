//! The owners of a replay's blocks: traced blocks come in, their replayed blocks go out.

mod holders;
mod moved;
mod page_cache;
mod places;
mod traced;
mod tries;

pub(super) use holders::{FreedBy, Holders};
pub(super) use traced::{At, Pages};
