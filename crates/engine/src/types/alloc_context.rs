//! What a request wants from one zone.

use super::alloc_flags::AllocFlags;
use super::migratetype::Migratetype;
use super::units::Order;

/// What a request wants from one zone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AllocContext {
    pub(crate) order: Order,
    pub(crate) migratetype: Migratetype,
    pub(crate) flags: AllocFlags,
}
