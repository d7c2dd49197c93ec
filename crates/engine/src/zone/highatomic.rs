//! The reserve for atomic high-order requests.

use super::free_area::Passage;
use super::state::Zone;
use crate::table::FrameIndex;
use crate::table::sync::{Locks, Ordering};
use crate::types::{Migratetype, Order};

impl<L: Locks> Zone<'_, L> {
    /// The most pages that the reserve may hold: about 1 % of the zone.
    ///
    /// Units: pages. 0 where the zone is too small for any reserve.
    fn highatomic_limit(&self) -> u64 {
        let block = u64::from(self.blocks.pages());
        let hundredth = self.managed / 100;
        if !self.switches.highatomic_by_free {
            return hundredth + block;
        }
        if hundredth < block { 0 } else { hundredth.next_multiple_of(block) }
    }

    /// Reserves the pageblock of a block that an atomic request has just been given.
    ///
    /// Linux counterpart: `reserve_highatomic_pageblock`.
    pub(crate) fn reserve_highatomic(&self, index: FrameIndex, order: Order) {
        let limit = self.highatomic_limit();
        if self.shared.reserved_highatomic.load(Ordering::Relaxed) >= limit {
            return;
        }
        let mut guard = self.lock();
        if guard.state.reserved_highatomic >= limit || !self.blocks.get(index).is_mergeable() {
            return;
        }
        let reserved = if self.is_before_hygiene() {
            guard.set_type_before_hygiene(index, Migratetype::HighAtomic);
            u64::from(self.blocks.pages())
        } else if order < self.blocks.order() {
            let Ok(start) = guard.whole_pageblock(index) else { return };
            guard.convert_pageblock(start, Migratetype::HighAtomic);
            u64::from(self.blocks.pages())
        } else {
            self.blocks.set_range(index, order, Migratetype::HighAtomic);
            order.pages()
        };
        guard.state.reserved_highatomic += reserved;
        guard.state.stats.highatomic_reserved += reserved / u64::from(self.blocks.pages());
    }

    /// Gives one pageblock of the reserve back to `to`; leaves the last one unless `force`.
    ///
    /// Returns whether free pages became available.
    /// Linux counterpart: `unreserve_highatomic_pageblock` for one zone.
    pub(crate) fn unreserve_highatomic(&self, to: Migratetype, force: bool) -> bool {
        let block = u64::from(self.blocks.pages());
        if !force && self.shared.reserved_highatomic.load(Ordering::Relaxed) <= block {
            return false;
        }
        let mut guard = self.lock();
        for order in Order::ZERO.up_to(self.max_order) {
            let Some(index) = guard.first(order, Migratetype::HighAtomic) else { continue };
            let reserved_here = self.blocks.get(index) == Migratetype::HighAtomic;
            if reserved_here || !self.is_before_hygiene() {
                // Before hygiene only the first pageblock of a larger block is given back.
                let size = if self.is_before_hygiene() { block } else { block.max(order.pages()) };
                let size = size.min(guard.state.reserved_highatomic);
                guard.state.reserved_highatomic -= size;
                guard.state.stats.highatomic_unreserved += size / block;
            }
            let moved = if self.is_before_hygiene() {
                guard.set_type_before_hygiene(index, to)
            } else if order < self.blocks.order() {
                guard.whole_pageblock(index).map_or(0, |start| guard.convert_pageblock(start, to))
            } else {
                guard.pass(index, order, Passage::Change(to));
                self.blocks.set_range(index, order, to);
                order.pages()
            };
            if moved > 0 {
                return true;
            }
        }
        false
    }
}
