//! The reserve for atomic high-order requests.

use super::free_area::ListOp;
use super::guard::ZoneGuard;
use super::state::Zone;
use crate::table::FrameIndex;
use crate::table::sync::Ordering;
use crate::types::{Migratetype, Order, Platform};

impl<P: Platform> Zone<'_, P> {
    /// Returns the most pages that the reserve may have: about 1 % of the zone.
    ///
    /// Units: pages. 0 if the zone is too small for a reserve.
    fn highatomic_limit(&self) -> u64 {
        let block = u64::from(self.blocks.pages());
        let hundredth = self.managed_pages() / 100;
        if !self.switches.highatomic_by_free {
            return hundredth + block;
        }
        if hundredth < block { 0 } else { hundredth.next_multiple_of(block) }
    }

    /// Reserves the pageblock of a block that an atomic request has just got.
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
            guard.reserve_before_hygiene(index)
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

    /// Releases one pageblock from the reserve, and gives it the type `to`. Releases the last one only with `force`.
    ///
    /// Returns true if free pages left the reserve.
    /// Linux counterpart: `unreserve_highatomic_pageblock` for one zone.
    pub(crate) fn unreserve_highatomic(&self, to: Migratetype, force: bool) -> bool {
        let block = u64::from(self.blocks.pages());
        if !force && self.shared.reserved_highatomic.load(Ordering::Relaxed) <= block {
            return false;
        }
        let mut guard = self.lock();
        for order in Order::ZERO.up_to(self.max_order) {
            let Some(index) = guard.first(order, Migratetype::HighAtomic) else { continue };
            let moved = if self.is_before_hygiene() {
                guard.unreserve_before_hygiene(index, to)
            } else {
                guard.unreserve(index, order, to)
            };
            if moved > 0 {
                return true;
            }
        }
        false
    }
}

impl<P: Platform> ZoneGuard<'_, '_, P> {
    /// Releases the pageblocks of a free block from the reserve, and gives them the type `to`. Returns the number of
    /// free pages that moved.
    fn unreserve(&mut self, index: FrameIndex, order: Order, to: Migratetype) -> u64 {
        let blocks = &self.zone.blocks;
        self.count_unreserved(order.pages().max(blocks.pages().into()));
        if order < blocks.order() {
            return self.whole_pageblock(index).map_or(0, |start| self.convert_pageblock(start, to));
        }
        blocks.set_range(index, order, to);
        self.update_list(index, order, ListOp::Change(to));
        order.pages()
    }

    /// Subtracts `pages` from the size of the reserve, which stops at 0.
    pub(crate) fn count_unreserved(&mut self, pages: u64) {
        let pages = pages.min(self.state.reserved_highatomic);
        self.state.reserved_highatomic -= pages;
        self.state.stats.highatomic_unreserved += pages / u64::from(self.zone.blocks.pages());
    }
}
