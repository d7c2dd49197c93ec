//! Requests and frees that bypass the per-CPU lists while a zone is short of small blocks. Linux has no such rule.
//!
//! A page on a CPU's list does not merge, and is taken again before it can. In memory whose free pages are scattered,
//! most requests of orders 1 to 3 are refused for that reason. After such a refusal
//! ([`crate::Switches::bypasses_lists_when_short`]) the zone publishes that it has plenty of nothing, so that all fast
//! paths decline. The slower paths then take blocks from the free lists, and return them there.

use crate::memory::Memory;
use crate::table::sync::Ordering;
use crate::table::{FrameIndex, Place};
use crate::types::{Order, Platform, Request};
use crate::zone::{Zone, ZoneGuard};

impl<P: Platform> Memory<'_, P> {
    /// Returns true if the refusal of a request may start a bypass: of a request of orders 1 to 3.
    #[inline]
    pub(crate) fn may_bypass(&self, request: &Request) -> bool {
        self.switches.bypasses_lists_when_short
            && request.order > Order::ZERO
            && request.order <= Order::COSTLY
    }

    /// Makes requests and frees bypass the per-CPU lists of every zone that a request may use, from now on, unless such a
    /// zone has a block for it or a free pageblock. Returns true if a zone now has a block for it.
    #[cold]
    #[inline(never)]
    pub(crate) fn start_bypass(&self, request: &Request) -> bool {
        let order = request.order;
        let zones = || self.zones.iter().filter(Zone::serves(request));
        if zones().any(|zone| zone.has_any_block(order.min(zone.blocks.order()))) {
            return false;
        }
        let may_start =
            |zone: &&Zone<'_, P>| zone.switches.bypasses_lists_when_short && !zone.bypasses_lists();
        zones().filter(may_start).for_each(Zone::start_bypass);
        zones().any(|zone| zone.has_any_block(order))
    }
}

impl<P: Platform> Zone<'_, P> {
    /// Makes requests and frees bypass the per-CPU lists, and drains the lists that no other caller has locked.
    #[cold]
    fn start_bypass(&self) {
        // Under the lock: a holder that has not seen the bypass does not publish after it.
        let guard = self.lock();
        self.shared.bypasses_lists.store(true, Ordering::Relaxed);
        self.shared.plenty.store(0, Ordering::Relaxed);
        drop(guard);
        for cpu in 0..self.percpu.len() as u16 {
            if let Some(lists) = self.try_lock_lists(cpu) {
                self.drain_locked(lists, &|| self.try_lock_lists(cpu));
            }
        }
        self.clear_below_high();
    }
}

impl<P: Platform> ZoneGuard<'_, '_, P> {
    /// Returns the end of its list for a freed block that is not likely to merge soon, while requests bypass the per-CPU
    /// lists: the tail in the last part of the zone, which has as many frames as pages are free, otherwise the head.
    ///
    /// Requests take blocks from the head. Therefore the other parts fill up, and free pages come to lie together at
    /// high addresses, where they merge. The first free pageblock ends the bypass; see [`Zone::publish_plenty`].
    #[cold]
    #[inline(never)]
    pub(crate) fn place_in_bypass(&self, index: FrameIndex, order: Order) -> Place {
        let zone = self.zone;
        if order >= zone.blocks.order() && zone.blocks.get(index).is_mergeable() {
            zone.shared.bypasses_lists.store(false, Ordering::Relaxed);
        }
        let is_last = u64::from(index.0) + self.state.free_pages >= u64::from(zone.frames.end().0);
        if is_last { Place::Tail } else { Place::Head }
    }
}
