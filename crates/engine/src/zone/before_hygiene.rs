//! The behaviour of eras without freelist hygiene, as in Linux before 6.10.
//!
//! Linux since 6.10 keeps a free page on the list of its pageblock's type. It counts the page where it enters and
//! leaves the list, and claims a pageblock as a whole or takes one piece of it.
//!
//! Before 6.10 the caller chose the list of a block, by a type that it had read earlier. Pages were on lists of other
//! types than their pageblock's, and the functions that freed, took or isolated pages counted them. The rest of the
//! zone follows Linux since 6.10, and calls this file where the older eras differ.

use super::buddy::Insertion;
use super::free_area::ListOp;
use super::guard::ZoneGuard;
use super::state::{LockedState, Zone};
use crate::table::{FrameIndex, FrameKind, FrameWord, Run};
use crate::types::{AllocContext, Migratetype, Order, Pfn, Platform, Tracepoints};

impl<P: Platform> Zone<'_, P> {
    /// Returns true in the eras without freelist hygiene.
    #[inline]
    pub(crate) fn is_before_hygiene(&self) -> bool {
        !self.switches.hygiene
    }

    /// Returns true if a free block that starts at a frame may be on the list of `migratetype`. With hygiene this must
    /// be the type of its pageblock.
    pub(crate) fn may_be_listed(&self, pfn: Pfn, migratetype: Migratetype) -> bool {
        self.is_before_hygiene() || self.block_type(pfn) == Some(migratetype)
    }

    /// Returns true if adjacent freed blocks of an order may be freed as one run: with hygiene, unless a block spans
    /// several pageblocks.
    pub(crate) fn frees_in_runs(&self, order: Order) -> bool {
        !self.is_before_hygiene() && order <= self.blocks.order()
    }

    /// Returns true if the numbers of free pages may differ from the sums over the lists: before hygiene, after a
    /// pageblock was isolated.
    pub(crate) fn numbers_may_drift(&self, state: &LockedState) -> bool {
        self.is_before_hygiene() && state.ever_isolated
    }

    /// Splits a free block that lies across `boundary`. With hygiene this does nothing, because isolating the pageblock
    /// has already split the block.
    ///
    /// Linux counterpart: `split_free_page`, until 6.10.
    pub(crate) fn split_straddling(&self, boundary: FrameIndex) {
        let inside = self.frames.contains(boundary) && boundary != self.frames.start();
        if inside && self.is_before_hygiene() {
            self.lock().split_straddling_before_hygiene(boundary);
        }
    }

    /// Returns the word of a freed block on a per-CPU list. With hygiene the word has the type that the owner
    /// requested. Before hygiene it has the pageblock's type, and a drain puts the block on the list of that type.
    #[inline]
    pub(super) fn freed_word(&self, word: FrameWord, order: Order, block_type: Migratetype) -> FrameWord {
        if self.is_before_hygiene() {
            return FrameWord::head(FrameKind::PerCpu, order, block_type);
        }
        word.given_back()
    }
}

impl<P: Platform> ZoneGuard<'_, '_, P> {
    /// Changes the numbers of free pages by `pages` of a type, if callers count them as before hygiene. With hygiene
    /// this does nothing.
    ///
    /// The caller passes the type that it read earlier. If a pageblock's pages are on lists of other types, isolation
    /// makes the numbers differ permanently from the sums over the lists.
    pub(crate) fn account_before_hygiene(&mut self, pages: i64, migratetype: Migratetype) {
        if self.zone.is_before_hygiene() {
            self.account(pages, migratetype);
        }
    }

    /// Changes the numbers of free pages by `pages` of a type when a list changes. Before hygiene this does nothing,
    /// because the callers count the pages.
    pub(super) fn account_at_door(&mut self, pages: i64, migratetype: Migratetype) {
        if !self.zone.is_before_hygiene() {
            self.account(pages, migratetype);
        }
    }

    /// Returns the number of pages that a refill has taken but that still count as free: before hygiene all of them,
    /// until the refill ends.
    #[inline]
    pub(super) fn still_counted(&self, taken: u64) -> u64 {
        if self.zone.is_before_hygiene() { taken } else { 0 }
    }

    /// Frees a block that bypasses the per-CPU lists.
    ///
    /// The block goes to the list of type `seen`, which the caller read without the lock. If pageblocks are isolated,
    /// the type is read again.
    pub(super) fn free_direct_before_hygiene(&mut self, index: FrameIndex, order: Order, seen: Migratetype) {
        let migratetype = if self.state.isolated_blocks > 0 || seen == Migratetype::Isolate {
            self.zone.blocks.get(index)
        } else {
            seen
        };
        self.free_block(index, order, migratetype, Insertion::ByMergeLikelihood);
    }

    /// Frees drained blocks one after the other.
    ///
    /// A block goes to the list of the type under which it was freed. If pageblocks are isolated, the type of its
    /// pageblock is read again.
    pub(super) fn free_drained_before_hygiene(&mut self, run: Run) {
        let stale = self.state.isolated_blocks == 0;
        for index in run.iter() {
            let migratetype =
                if stale { self.zone.frames.word(index).migratetype() } else { self.zone.blocks.get(index) };
            self.zone.tracepoints.page_pcpu_drain(self.zone.frames.pfn(index), run.order, migratetype);
            self.free_block(index, run.order, migratetype, Insertion::ByMergeLikelihood);
        }
    }

    /// Takes a block from the list of any type. The list of the requested type comes first.
    ///
    /// Linux counterpart: `__rmqueue` before 6.10.
    pub(super) fn take_before_hygiene(&mut self, context: AllocContext) -> Option<FrameIndex> {
        loop {
            let found = self.take_smallest(context.order, context.migratetype);
            if let Some(found) = found.or_else(|| self.take_cma(context)) {
                return Some(found);
            }
            if !self.move_to_native(context) {
                return None;
            }
        }
    }

    /// Moves a block of another type to the lists of the requested type, with or without its pageblock. Returns false
    /// if no such block is large enough.
    ///
    /// The pageblock's free pages always move. Its type changes only if enough of its pages suit the request; otherwise
    /// the free pages are on lists that do not match its type.
    /// Linux counterpart: `__rmqueue_fallback` before 6.10.
    fn move_to_native(&mut self, context: AllocContext) -> bool {
        let smallest = self.smallest_fallback(context);
        let mut orders = smallest.up_to(self.zone.max_order).rev();
        let Some(mut found) = orders.find_map(|order| self.foreign_of(order, context)) else { return false };
        let may_claim = |order| context.migratetype.may_claim(order, self.zone.blocks.order());
        if !may_claim(found.0) && context.migratetype == Migratetype::Movable && found.0 > context.order {
            let mut orders = context.order.up_to(self.zone.max_order);
            found = orders.find_map(|order| self.foreign_of(order, context)).unwrap_or(found);
        }
        let (order, foreign) = found;
        let whole_block = context.migratetype.may_claim(order, self.zone.blocks.order());
        let Some(index) = self.first(order, foreign) else { return false };
        self.move_block_to_native(index, order, context, whole_block);
        self.trace_extfrag(index, order, foreign, context);
        true
    }

    /// Linux counterpart: `steal_suitable_fallback` before 6.10.
    fn move_block_to_native(
        &mut self,
        index: FrameIndex,
        found: Order,
        context: AllocContext,
        whole_block: bool,
    ) {
        self.state.stats.claim_attempts += 1;
        let old = self.zone.blocks.get(index);
        if old == Migratetype::HighAtomic {
            return self.move_single(index, found, context);
        }
        if found >= self.zone.blocks.order() {
            self.zone.blocks.set_range(index, found, context.migratetype);
            self.state.stats.claims += 1;
            self.update_list(index, found, ListOp::Change(context.migratetype));
            return;
        }
        self.boost_watermark(context.flags);
        if !whole_block {
            return self.move_single(index, found, context);
        }
        let Some((start, end)) = self.clipped_pageblock(index) else {
            return self.move_single(index, found, context);
        };
        let (used, read) = self.zone.frames.use_between(start, end, old);
        self.touch(read);
        if self.suits(used, old, context.migratetype) {
            self.zone.blocks.set(index, context.migratetype);
            self.state.stats.claims += 1;
        } else {
            self.state.stats.steals += 1;
        }
        self.move_free_blocks(start, end, context.migratetype);
    }

    fn move_single(&mut self, index: FrameIndex, found: Order, context: AllocContext) {
        self.state.stats.steals += 1;
        self.update_list(index, found, ListOp::Change(context.migratetype));
    }

    /// Changes the type of the pageblock around a block. Returns the number of free pages that moved with it.
    ///
    /// If the pageblock starts before the zone, only the pages from the block on move. If it ends behind the zone, no
    /// pages move.
    /// Linux counterpart: `set_pageblock_migratetype` and `move_freepages_block` before 6.10.
    fn set_type_before_hygiene(&mut self, index: FrameIndex, to: Migratetype) -> u64 {
        self.zone.blocks.set(index, to);
        self.clipped_pageblock(index).map_or(0, |(start, end)| self.move_free_blocks(start, end, to))
    }

    /// Reserves the pageblock around a block for atomic requests, even if no free page moves. Returns the number of
    /// pages reserved.
    ///
    /// Linux counterpart: `reserve_highatomic_pageblock` before 6.10.
    pub(super) fn reserve_before_hygiene(&mut self, index: FrameIndex) -> u64 {
        self.set_type_before_hygiene(index, Migratetype::HighAtomic);
        self.zone.blocks.pages().into()
    }

    /// Releases the first pageblock of a free block from the reserve, and gives it the type `to`. Returns the number of
    /// free pages that moved.
    ///
    /// Linux counterpart: `unreserve_highatomic_pageblock` before 6.10.
    pub(super) fn unreserve_before_hygiene(&mut self, index: FrameIndex, to: Migratetype) -> u64 {
        if self.zone.blocks.get(index) == Migratetype::HighAtomic {
            self.count_unreserved(self.zone.blocks.pages().into());
        }
        self.set_type_before_hygiene(index, to)
    }

    /// Isolates a pageblock, and subtracts its free pages under its former type.
    ///
    /// Linux counterpart: `set_migratetype_isolate` before 6.10.
    pub(super) fn isolate_before_hygiene(&mut self, start: FrameIndex) {
        let former = self.zone.blocks.get(start);
        self.zone.blocks.set_isolated(start);
        if let Some((start, end)) = self.clipped_pageblock(start) {
            let moved = self.move_free_blocks(start, end, Migratetype::Isolate);
            self.account(-(moved as i64), former);
        }
    }

    /// Ends the isolation of a pageblock, which becomes `to`.
    ///
    /// Linux counterpart: `unset_migratetype_isolate` before 6.10.
    pub(super) fn unisolate_before_hygiene(&mut self, start: FrameIndex, to: Migratetype) {
        self.zone.blocks.set(start, to);
        if let Some((start, end)) = self.clipped_pageblock(start) {
            let moved = self.move_free_blocks(start, end, to);
            self.account(moved as i64, to);
        }
    }

    fn split_straddling_before_hygiene(&mut self, boundary: FrameIndex) {
        let zone = self.zone;
        let head = zone.frames.block_head(FrameIndex(boundary.0 - 1));
        let word = zone.frames.word(head);
        if word.kind() == FrameKind::Free && head.offset(1 << word.order().get()) > boundary {
            self.update_list(head, word.order(), ListOp::Leave);
            self.account(-(word.order().pages() as i64), zone.blocks.get(head));
            self.free_by_pageblock(head, word.order(), Insertion::ByMergeLikelihood);
        }
    }

    /// Returns the part of a pageblock whose free pages move: from `index` on if the pageblock starts
    /// before the zone, and `None` if it ends behind the zone.
    fn clipped_pageblock(&self, index: FrameIndex) -> Option<(FrameIndex, FrameIndex)> {
        let start = self.zone.blocks.start_of(index);
        let end = start.offset(self.zone.blocks.pages());
        let start = if self.zone.frames.contains(start) { start } else { index };
        (end <= self.zone.frames.end()).then_some((start, end))
    }
}
