//! The events that the engine reports to an embedder.

use super::migratetype::Migratetype;
use super::units::{Order, Pfn};

/// A fallback: a request got a block from the free list of another type.
///
/// Linux counterpart: the fields of `mm_page_alloc_extfrag`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExtFrag {
    /// The first frame of the block.
    pub pfn: Pfn,
    /// The requested order.
    pub alloc_order: Order,
    /// The order of the free block that was found.
    pub fallback_order: Order,
    /// The requested type.
    pub alloc_migratetype: Migratetype,
    /// The type of the free list that had the block.
    pub fallback_migratetype: Migratetype,
    /// True if the block's pageblock now has the requested type.
    pub change_ownership: bool,
}

/// Receives the events of the allocator. Each method has the name of Linux's tracepoint.
///
/// The engine calls all methods except [`Tracepoints::contention_begin`] with the zone lock held: an implementation may
/// record the event, and must not call the allocator. `()` ignores all events and costs nothing.
pub trait Tracepoints {
    /// True to receive [`Tracepoints::contention_begin`] and [`Tracepoints::contention_end`]. The engine then first
    /// tries the zone lock before it waits.
    const WATCHES_CONTENTION: bool = false;

    /// A value that an implementation returns when a hold or a wait begins, and receives when it ends: for example a
    /// time, or `()` if it measures no times.
    type Since: Copy + Default;

    /// A request got a block from the free list of another type.
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

    /// A hold of a zone lock begins. The lock was just taken.
    ///
    /// Linux counterpart: `lock_acquired` of `zone->lock`.
    fn zone_lock_acquired(&self) -> Self::Since {
        Self::Since::default()
    }

    /// A hold of a zone lock ends. The lock is released next. During the hold, the engine read or moved `touched`
    /// frames and blocks.
    ///
    /// Linux counterpart: `lock_release` of `zone->lock`, which does not have this number.
    fn zone_lock_release(&self, _since: Self::Since, _touched: u64) {}
}

impl Tracepoints for () {
    type Since = ();
}
