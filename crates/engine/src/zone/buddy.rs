//! Splitting and merging blocks.

use super::free_area::ListOp;
use super::guard::ZoneGuard;
use crate::table::{FrameIndex, FrameKind, FrameWord, Place, Run};
use crate::types::{AllocContext, AllocFlags, Migratetype, Order, Pfn, Platform, Tracepoints};

/// The end of the free list that a freed block goes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Insertion {
    /// The tail if the block is likely to merge soon, otherwise the head.
    ByMergeLikelihood,
    /// Always the tail.
    Tail,
}

impl<P: Platform> ZoneGuard<'_, '_, P> {
    /// Returns the buddy of a block if the buddy is one free block of the same order.
    fn free_buddy(&self, index: FrameIndex, order: Order) -> Option<FrameIndex> {
        let buddy = index.buddy(order);
        self.zone.frames.get(buddy).is_some_and(|frame| frame.word().is_free_of(order)).then_some(buddy)
    }

    /// Merges a block with its free buddies and puts the result on the list of `migratetype`.
    ///
    /// Linux counterpart: `__free_one_page`.
    pub(crate) fn free_block(
        &mut self,
        index: FrameIndex,
        order: Order,
        migratetype: Migratetype,
        insertion: Insertion,
    ) {
        self.free_block_unless(index, order, migratetype, insertion, |_| false);
    }

    /// Merges a block as [`Self::free_block`] does. If `wanted` accepts the order of a merged block, that block is
    /// returned and not put on a list.
    ///
    /// Linux counterpart: `__free_one_page` with a `capture_control`.
    #[inline]
    pub(crate) fn free_block_unless(
        &mut self,
        index: FrameIndex,
        order: Order,
        migratetype: Migratetype,
        insertion: Insertion,
        wanted: impl Fn(Order) -> bool,
    ) -> Option<FrameIndex> {
        let max = self.zone.max_order;
        let (mut index, mut order) = (index, order);
        self.zone.frames.set_word(index, FrameWord::TAIL);
        self.account_before_hygiene(order.pages() as i64, migratetype);
        while order < max {
            if wanted(order) {
                self.account_before_hygiene(-(order.pages() as i64), migratetype);
                return Some(index);
            }
            let Some(buddy) = self.free_buddy(index, order) else { break };
            if order >= self.zone.blocks.order() && !self.may_merge_blocks(buddy, migratetype) {
                break;
            }
            self.update_list(buddy, order, ListOp::Leave);
            if order >= self.zone.blocks.order()
                && !self.zone.is_before_hygiene()
                && self.zone.blocks.get(buddy) != migratetype
            {
                // The types can differ if both are mergeable, because an isolated pageblock keeps its former type.
                self.zone.blocks.set_range(buddy, order, migratetype);
            }
            let Some(larger) = order.up() else { break };
            index = index.align_down(larger);
            order = larger;
        }
        let place = match insertion {
            Insertion::Tail => Place::Tail,
            Insertion::ByMergeLikelihood if self.merge_is_likely(index, order) => Place::Tail,
            Insertion::ByMergeLikelihood if self.zone.bypasses_lists() => self.place_in_bypass(index, order),
            Insertion::ByMergeLikelihood => Place::Head,
        };
        self.update_list(index, order, ListOp::Enter(migratetype, place));
        None
    }

    /// Returns true if a free block of `migratetype` may merge with its buddy. Both are a pageblock or larger.
    fn may_merge_blocks(&self, buddy: FrameIndex, migratetype: Migratetype) -> bool {
        let theirs = self.zone.blocks.get(buddy);
        theirs == migratetype || (theirs.is_mergeable() && migratetype.is_mergeable())
    }

    /// Returns true if the block and its buddy together would have a free buddy.
    ///
    /// Linux counterpart: `buddy_merge_likely`.
    fn merge_is_likely(&self, index: FrameIndex, order: Order) -> bool {
        let Some(larger) = order.up().filter(|&larger| larger < self.zone.max_order) else { return false };
        self.free_buddy(index.align_down(larger), larger).is_some()
    }

    /// Frees a block in parts, one for each pageblock. Each part goes to the list of its pageblock's type.
    ///
    /// Linux counterpart: `split_large_buddy`.
    pub(crate) fn free_by_pageblock(&mut self, index: FrameIndex, order: Order, insertion: Insertion) {
        let piece = order.min(self.zone.blocks.order());
        let mut at = index;
        for _ in 0..1u32 << (order.get() - piece.get()) {
            let migratetype = self.zone.blocks.get(at);
            self.free_block(at, piece, migratetype, insertion);
            at = at.offset(1 << piece.get());
        }
    }

    /// Frees a block that bypasses the per-CPU lists.
    ///
    /// Linux counterpart: `free_one_page`.
    pub(crate) fn free_direct(&mut self, index: FrameIndex, order: Order, seen: Migratetype) {
        self.state.stats.direct_frees += 1;
        if self.zone.is_before_hygiene() {
            return self.free_direct_before_hygiene(index, order, seen);
        }
        let movable_pages = self.movable_by_owner(index);
        self.free_by_pageblock(index, order, Insertion::ByMergeLikelihood);
        self.count_returned(index, order, movable_pages);
    }

    /// Frees blocks drained from a CPU's lists.
    ///
    /// Linux counterpart: `free_pcppages_bulk`.
    pub(super) fn free_drained(&mut self, run: Run) {
        if self.zone.is_before_hygiene() {
            self.free_drained_before_hygiene(run);
        } else if run.order > self.zone.blocks.order() {
            self.free_over_pageblocks(run);
        } else {
            let tracepoints = self.zone.tracepoints;
            self.free_run(run, |pfn, order, migratetype| {
                tracepoints.page_pcpu_drain(pfn, order, migratetype);
            });
        }
    }

    /// Frees blocks larger than a pageblock. Each part goes to the list of its pageblock's type, because the types may
    /// have changed while the block was allocated.
    fn free_over_pageblocks(&mut self, run: Run) {
        for index in run.iter() {
            let movable_pages = self.movable_by_owner(index);
            let migratetype = self.zone.blocks.get(index);
            self.zone.tracepoints.page_pcpu_drain(self.zone.frames.pfn(index), run.order, migratetype);
            self.free_by_pageblock(index, run.order, Insertion::ByMergeLikelihood);
            self.count_returned(index, run.order, movable_pages);
        }
    }

    /// Frees adjacent blocks, with hygiene. Blocks that would merge with each other are freed as one block, which
    /// leaves the same free lists.
    ///
    /// `report` is called for every block, with the type of its pageblock.
    pub(crate) fn free_run(&mut self, run: Run, mut report: impl FnMut(Pfn, Order, Migratetype)) {
        if run.blocks == 1 {
            let movable_pages = self.movable_by_owner(run.first);
            let migratetype = self.zone.blocks.get(run.first);
            report(self.zone.frames.pfn(run.first), run.order, migratetype);
            self.free_block(run.first, run.order, migratetype, Insertion::ByMergeLikelihood);
            return self.count_returned(run.first, run.order, movable_pages);
        }
        let by_owner = self.zone.blocks.counts_by_owner();
        let mut left = run;
        while left.blocks > 0 {
            let (start, order) = left.first_aligned_part(self.zone.blocks.order());
            let migratetype = self.zone.blocks.get(start);
            let (part, rest) = left.split(1 << (order.get() - run.order.get()));
            let mut movable_pages = 0;
            for index in part.iter() {
                report(self.zone.frames.pfn(index), run.order, migratetype);
                if by_owner {
                    movable_pages += self.zone.frames.word(index).movable_pages();
                }
                self.zone.frames.set_word(index, FrameWord::TAIL);
            }
            self.free_block(start, order, migratetype, Insertion::ByMergeLikelihood);
            self.count_returned(start, order, movable_pages);
            left = rest;
        }
    }

    /// Takes a block of `order` from the smallest sufficient free block of one type.
    ///
    /// Linux counterpart: `__rmqueue_smallest`.
    pub(crate) fn take_smallest(&mut self, order: Order, migratetype: Migratetype) -> Option<FrameIndex> {
        self.take_smallest_run(order, migratetype, 1).map(|run| run.first)
    }

    /// Takes up to `most` adjacent blocks from the smallest sufficient free block of one type. Single takes would
    /// return the same blocks.
    pub(super) fn take_smallest_run(
        &mut self,
        order: Order,
        migratetype: Migratetype,
        most: u32,
    ) -> Option<Run> {
        let found = Order::smallest_in(self.zone.occupied(migratetype) >> order.get() << order.get())?;
        let first = self.first(found, migratetype)?;
        let whole = 1 << (found.get() - order.get());
        let run = Run { first, blocks: most.min(whole), order, down: false };
        self.update_list(first, found, ListOp::Leave);
        self.give_back_rest(run, whole, migratetype);
        self.account_before_hygiene(-i64::from(run.pages()), migratetype);
        let taken = FrameWord::head(FrameKind::InTransit, order, migratetype);
        for index in run.iter() {
            self.zone.frames.set_word(index, taken);
            self.zone.tracepoints.page_alloc_zone_locked(self.zone.frames.pfn(index), order, migratetype);
        }
        Some(run)
    }

    /// Puts the rest of a block behind a run back on the list of `migratetype`. The block is as large as `whole` blocks
    /// of the run's order.
    fn give_back_rest(&mut self, run: Run, whole: u32, migratetype: Migratetype) {
        let mut at = run.blocks;
        while at < whole {
            let Some(order) = Order::new(run.order.get() + at.trailing_zeros() as u8) else { return };
            self.update_list(run.block(at), order, ListOp::Enter(migratetype, Place::Head));
            at += 1 << at.trailing_zeros();
        }
    }

    /// Takes a block off its list, and puts the part that exceeds `order` on the list of `migratetype`.
    ///
    /// Linux counterpart: `page_del_and_expand`.
    pub(crate) fn take(&mut self, index: FrameIndex, order: Order, found: Order, migratetype: Migratetype) {
        self.update_list(index, found, ListOp::Leave);
        self.expand(index, order, found, migratetype);
        self.zone.frames.set_word(index, FrameWord::head(FrameKind::InTransit, order, migratetype));
    }

    /// Puts upper halves of a block on the list of `migratetype` until a block of `order` is left.
    ///
    /// Linux counterpart: `expand`.
    pub(super) fn expand(&mut self, index: FrameIndex, order: Order, found: Order, migratetype: Migratetype) {
        let mut left = found;
        while left > order
            && let Some(half) = left.down()
        {
            let upper = index.offset(1 << half.get());
            self.update_list(upper, half, ListOp::Enter(migratetype, Place::Head));
            left = half;
        }
    }

    /// Takes a block for a request that bypasses the per-CPU lists.
    ///
    /// Linux counterpart: `rmqueue_buddy` under the lock.
    pub(crate) fn take_direct(&mut self, context: AllocContext) -> Option<FrameIndex> {
        let reserve = context.flags.contains(AllocFlags::HIGHATOMIC);
        let found = reserve.then(|| self.take_reserved(context)).flatten();
        let found = found.or_else(|| self.refill(context).next()).or_else(|| {
            let desperate = AllocFlags::OOM | AllocFlags::NON_BLOCK;
            context.flags.intersects(desperate).then(|| self.take_reserved(context)).flatten()
        });
        if found.is_some() {
            self.state.stats.direct_allocs += 1;
        }
        found
    }

    /// Takes a block from the reserve for atomic requests.
    fn take_reserved(&mut self, context: AllocContext) -> Option<FrameIndex> {
        let found = self.take_smallest(context.order, Migratetype::HighAtomic)?;
        self.count_taken(Run::single(found, context.order), context.migratetype);
        Some(found)
    }
}
