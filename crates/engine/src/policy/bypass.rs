//! Requests and frees that bypass the per-CPU lists while a zone is short of small blocks. Linux has no such rule.
//!
//! A page on a CPU's list does not merge, and is taken again before it can. In memory whose free pages are scattered,
//! most requests of orders 1 to 3 are refused for that reason. After such a refusal
//! ([`crate::Switches::bypasses_lists_when_short`]) the zone publishes that it has plenty of nothing, so that all fast
//! paths decline. The slower paths then take blocks from the free lists, and return them there.

use crate::memory::Memory;
use crate::table::sync::Ordering;
use crate::table::{FrameIndex, Place};
use crate::types::{GfpFlags, Order, Platform, Request};
use crate::zone::{Zone, ZoneGuard};

impl<P: Platform> Memory<'_, P> {
    /// Makes requests and frees bypass the per-CPU lists of every zone that a request may use, from now on. Does so only
    /// for a request of orders 1 to 3, if no such zone has a block for it or a free pageblock. Returns true if a zone
    /// now has a block for it.
    #[inline]
    pub(crate) fn start_bypass(&self, request: &Request) -> bool {
        let is_small = request.order > Order::ZERO && request.order <= Order::COSTLY;
        self.switches.bypasses_lists_when_short && is_small && self.start_bypass_for(request)
    }

    #[cold]
    #[inline(never)]
    fn start_bypass_for(&self, request: &Request) -> bool {
        let (order, gfp) = (request.order, request.gfp);
        let only_node = gfp.contains(GfpFlags::THISNODE).then_some(request.node);
        let may_use = |zone: &&Zone<'_, P>| {
            zone.kind <= gfp.highest_zone() && only_node.is_none_or(|node| zone.node == node)
        };
        let zones = || self.zones.iter().filter(may_use);
        if zones().any(|zone| zone.has_any_block(order.min(zone.blocks.order()))) {
            return false;
        }
        zones().filter(|zone| !zone.bypasses_lists()).for_each(Zone::start_bypass);
        zones().any(|zone| zone.has_any_block(order))
    }
}

impl<P: Platform> Zone<'_, P> {
    /// Makes requests and frees bypass the per-CPU lists, and drains the lists that no other caller has locked.
    #[cold]
    fn start_bypass(&self) {
        self.shared.bypasses_lists.store(true, Ordering::Relaxed);
        self.shared.plenty.store(0, Ordering::Relaxed);
        for cpu in 0..self.percpu.len() as u16 {
            if let Some(lists) = self.try_lock_lists(cpu) {
                self.drain_locked(cpu, lists, false);
            }
        }
        self.clear_below_high();
    }
}

impl<P: Platform> ZoneGuard<'_, '_, P> {
    /// Returns the end of its list for a freed block. The tail is for blocks that are likely to merge soon and, while
    /// requests bypass the per-CPU lists, for the last pages of the zone, as many as are free.
    ///
    /// Requests take blocks from the head. Therefore the other pages fill up, and free pages come to lie together at
    /// high addresses, where they merge. A free pageblock ends the bypass.
    #[inline(never)]
    pub(crate) fn place_by_rule(&self, index: FrameIndex, order: Order) -> Place {
        let zone = self.zone;
        let bypass = zone.bypasses_lists();
        let is_last = || u64::from(index.0) + self.state.free_pages >= u64::from(zone.frames.end().0);
        let to_tail = self.merge_is_likely(index, order) || bypass && is_last();
        if bypass && order >= zone.blocks.order() && zone.blocks.get(index).is_mergeable() {
            zone.shared.bypasses_lists.store(false, Ordering::Relaxed);
        }
        if to_tail { Place::Tail } else { Place::Head }
    }
}
