//! The parameters of an allocation attempt in one zone.

use super::alloc_flags::AllocFlags;
use super::migratetype::Migratetype;
use super::units::Order;

/// The parameters of an allocation attempt in one zone.
///
/// Linux counterpart: `struct alloc_context`, with the order and the flags of the attempt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AllocContext {
    pub(crate) order: Order,
    pub(crate) migratetype: Migratetype,
    pub(crate) flags: AllocFlags,
}
