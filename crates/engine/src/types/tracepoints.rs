//! What an embedder may watch, event by event.

use super::migratetype::Migratetype;
use super::units::{Order, Pfn};

/// A block was found outside the lists of the wanted type.
///
/// Linux counterpart: the fields of `mm_page_alloc_extfrag`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExtFrag {
    /// First frame of the block.
    pub pfn: Pfn,
    /// The order asked for.
    pub alloc_order: Order,
    /// The order of the block that was found.
    pub fallback_order: Order,
    /// The type asked for.
    pub alloc_migratetype: Migratetype,
    /// The type whose list had the block.
    pub fallback_migratetype: Migratetype,
    /// Whether the block's pageblock is of the wanted type now.
    pub change_ownership: bool,
}

/// Events of the allocator, each named as Linux names its tracepoint.
///
/// They are called with the zone lock held: an implementation may note them, and must not
/// ask the allocator anything. `()` watches nothing and costs nothing.
pub trait Tracepoints {
    /// A block was found outside the lists of the wanted type.
    fn page_alloc_extfrag(_event: ExtFrag) {}

    /// A block left the list of a type under the zone lock.
    fn page_alloc_zone_locked(_pfn: Pfn, _order: Order, _migratetype: Migratetype) {}

    /// A block left a CPU's lists for the list of a type.
    fn page_pcpu_drain(_pfn: Pfn, _order: Order, _migratetype: Migratetype) {}

    /// A hold of a zone lock ends that read or moved so many frames and blocks.
    ///
    /// Linux counterpart: `lock_release` of `zone->lock`, which does not tell the number.
    fn zone_lock_release(_touched: u64) {}
}

impl Tracepoints for () {}
