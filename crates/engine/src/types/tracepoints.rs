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
    /// True if the block's pageblock is of the wanted type now.
    pub change_ownership: bool,
}

/// Events of the allocator, each named as Linux names its tracepoint.
///
/// Every event but [`Tracepoints::contention_begin`] is told with the zone lock held: an implementation
/// may note the event, and must not call the allocator. `()` watches nothing and costs nothing.
pub trait Tracepoints {
    /// True if waits for the zone lock are told; otherwise the lock is taken without first trying whether
    /// it is free.
    const WATCHES_CONTENTION: bool = false;

    /// What an implementation notes when a hold or a wait begins and gets back when it ends, for example a
    /// time; `()` where neither is timed.
    type Since: Copy + Default;

    /// A block was found outside the lists of the wanted type.
    fn page_alloc_extfrag(&self, _event: ExtFrag) {}

    /// A block left the list of a type under the zone lock.
    fn page_alloc_zone_locked(&self, _pfn: Pfn, _order: Order, _migratetype: Migratetype) {}

    /// A block left a CPU's lists for the list of a type.
    fn page_pcpu_drain(&self, _pfn: Pfn, _order: Order, _migratetype: Migratetype) {}

    /// A caller begins to wait for a zone lock that another caller holds.
    fn contention_begin(&self) -> Self::Since {
        Self::Since::default()
    }

    /// The wait has ended, and the caller holds the lock.
    fn contention_end(&self, _since: Self::Since) {}

    /// A hold of a zone lock begins: the lock was taken, and nothing was done yet.
    ///
    /// Linux counterpart: `lock_acquired` of `zone->lock`.
    fn zone_lock_acquired(&self) -> Self::Since {
        Self::Since::default()
    }

    /// A hold of a zone lock ends: all was done, and the lock is released next. The hold read or moved
    /// `touched` frames and blocks.
    ///
    /// Linux counterpart: `lock_release` of `zone->lock`, which does not tell the number.
    fn zone_lock_release(&self, _since: Self::Since, _touched: u64) {}
}

impl Tracepoints for () {
    type Since = ();
}
