//! Allocation of contiguous frames: a range given by its address, or any range of a given length.

use core::ops::Range;

use super::migration::RangeMigration;
use crate::memory::Memory;
use crate::table::{FrameIndex, FrameWord, Run};
use crate::types::{AllocError, BlockError, FreeError, Migratetype, Order, Pfn, Platform, Request};
use crate::zone::{ListOp, Zone, ZoneGuard};

impl<P: Platform> Memory<'_, P> {
    /// Allocates exactly the frames of a range as single pages, or none of them.
    ///
    /// The range need not be aligned. `migratetype` is [`Migratetype::Cma`] for the owner of a contiguous memory area,
    /// otherwise [`Migratetype::Movable`]. `cpu` is the CPU that runs the caller. The call drains all per-CPU lists, so a
    /// thread that owns a [`crate::Exclusive`] must not make it. [`Memory::free_contig_range`] frees the range.
    ///
    /// `migration` says what happens if pages of the range are in use:
    ///
    /// - [`crate::NoReclaim`]: the call fails. In the eras of Linux a failure also ends the isolation of pageblocks of the range
    ///   that another caller had isolated, as in Linux ([`crate::Switches::ranges_stay_apart`]).
    /// - `&mut` a [`crate::Relocate`]: it moves the pages to other pageblocks. With [`Migratetype::Cma`] all pageblocks of the
    ///   range must be CMA pageblocks, otherwise none may be.
    ///
    /// Linux counterpart: `alloc_contig_range`.
    ///
    /// # Errors
    /// - [`BlockError::WrongType`]: another type, or a CMA request outside CMA pageblocks.
    /// - [`BlockError::Unmovable`]: the range has pages that cannot be moved, holes, or CMA pageblocks without a CMA
    ///   request.
    /// - [`BlockError::WrongState`]: another caller has isolated a pageblock of the range. It stays isolated.
    /// - [`BlockError::NoRoom`]: the memory has no other place for the pages.
    /// - [`BlockError::Busy`]: a page is in use, or did not move in five tries.
    ///
    /// After an error no page of the range is allocated.
    pub fn alloc_contig_range<M: RangeMigration<P>>(
        &self,
        start: Pfn,
        pages: u64,
        migratetype: Migratetype,
        cpu: u16,
        mut migration: M,
    ) -> Result<(), BlockError> {
        migration.alloc_range(self, start, pages, migratetype, cpu)
    }

    /// Finds `pages` contiguous frames that are free or can be moved, and allocates them as
    /// [`Memory::alloc_contig_range`] does. Returns the first frame.
    ///
    /// The zones that the request may use are searched one after the other, each from low to high addresses at
    /// multiples of `pages`. CMA pageblocks are skipped. The order in the request is ignored.
    /// Linux counterpart: `alloc_contig_pages`.
    ///
    /// # Errors
    /// [`AllocError::NoMemory`] if no such range is found; also the other errors of [`Memory::alloc`].
    pub fn alloc_contig_pages<M: RangeMigration<P>>(
        &self,
        request: Request,
        pages: u64,
        mut migration: M,
    ) -> Result<Pfn, AllocError> {
        if request.cpu >= self.cpus() {
            return Err(AllocError::NoSuchCpu);
        }
        if !self.has_node_of(&request) {
            return Err(AllocError::NoSuchNode);
        }
        for zone in self.zonelist(&request) {
            for start in zone.section_runs().flat_map(|run| multiples_in(run, pages)) {
                let kind = Migratetype::Movable;
                if zone.may_become_free(start, pages)
                    && migration.alloc_range(self, start, pages, kind, request.cpu).is_ok()
                {
                    return Ok(start);
                }
            }
        }
        Err(AllocError::NoMemory)
    }

    /// Frees contiguous single pages on a CPU: those of a contiguous range, or a part of them.
    ///
    /// Linux counterpart: `free_contig_range`.
    ///
    /// # Errors
    /// The number of pages that were freed, and the [`FreeError`] of the next page. That page and those behind it are
    /// unchanged.
    pub fn free_contig_range(&self, cpu: u16, start: Pfn, pages: u64) -> Result<(), (u64, FreeError)> {
        if cpu >= self.cpus() {
            return Err((0, FreeError::NoSuchCpu));
        }
        let mut freed = 0;
        while freed < pages {
            let failed = |error| (freed, error);
            let outside = failed(FreeError::OutsideZones);
            let pfn = start.0.checked_add(freed).map(Pfn).ok_or(outside)?;
            let order = self.zone_of(pfn).ok_or(outside)?.join_pages(pfn, pages - freed);
            self.free(cpu, pfn, order).map_err(failed)?;
            freed += order.pages();
        }
        Ok(())
    }
}

/// Returns the multiples of `pages` at which `pages` frames of a run may begin.
fn multiples_in(run: Range<Pfn>, pages: u64) -> impl Iterator<Item = Pfn> {
    let first = run.start.0.checked_next_multiple_of(pages);
    let starts = first.into_iter().flat_map(move |first| {
        (0..).map_while(move |number: u64| first.checked_add(pages.checked_mul(number)?))
    });
    let ends_inside = move |start: &u64| start.checked_add(pages).is_some_and(|end| end <= run.end.0);
    starts.take_while(ends_inside).map(Pfn)
}

impl<P: Platform> Zone<'_, P> {
    /// Returns the frames of a range, which must lie in the zone and have no holes between sections.
    pub(super) fn frame_range(&self, start: Pfn, pages: u64) -> Result<Range<FrameIndex>, BlockError> {
        self.frames.range(start, pages).ok_or_else(|| self.why_no_range(start, pages))
    }

    /// Returns the reason why a range of frames is not contiguous in the zone's tables.
    #[cold]
    pub(super) fn why_no_range(&self, start: Pfn, pages: u64) -> BlockError {
        let last = start.0.checked_add(pages.saturating_sub(1)).map(Pfn);
        let is_inside = pages > 0 && self.contains(start) && last.is_some_and(|last| self.contains(last));
        if is_inside { BlockError::Unmovable } else { BlockError::OutsideZone }
    }

    /// Returns true if a range has no unmovable pages, no holes, and no CMA or isolated pageblocks.
    ///
    /// Linux counterpart: `pfn_range_valid_contig`.
    fn may_become_free(&self, start: Pfn, pages: u64) -> bool {
        let Ok(range) = self.frame_range(start, pages) else { return false };
        let guard = self.lock();
        let kept = |at: &FrameIndex| matches!(self.blocks.get(*at), Migratetype::Cma | Migratetype::Isolate);
        let mut blocks = (self.blocks.start_of(range.start).0..range.end.0)
            .step_by(self.blocks.pages() as usize)
            .map(FrameIndex);
        !blocks.any(|at| kept(&at)) && !guard.holds_unmovable(range.start, range.end)
    }

    /// Takes an isolated range off the free lists. Every frame becomes an allocated page.
    pub(super) fn take_range(&self, start: Pfn, pages: u64) -> Result<(), BlockError> {
        let range = self.frame_range(start, pages)?;
        let outer = {
            let mut guard = self.lock();
            let outer = guard.take_isolated(range.start, range.end)?;
            if !self.switches.marks_movable_pages {
                let taken = Run { first: range.start, blocks: pages as u32, order: Order::ZERO, down: false };
                guard.count_taken(taken, Migratetype::Movable);
            }
            outer
        };
        let page = FrameWord::requested(Order::ZERO, Migratetype::Movable);
        for index in range.start.0..range.end.0 {
            self.frames.hand_over(FrameIndex(index), page);
        }
        self.give_back(outer.start, range.start);
        self.give_back(range.end, outer.end);
        Ok(())
    }

    /// Frees the frames that were taken beyond the range. Their pageblocks are still isolated.
    ///
    /// Linux counterpart: `free_contig_range`.
    pub(super) fn give_back(&self, from: FrameIndex, end: FrameIndex) {
        let mut at = from;
        while at < end {
            let order = self.freed_as(at, end.0 - at.0);
            for tail in at.0..at.0 + (1 << order.get()) {
                self.frames.set_word(FrameIndex(tail), FrameWord::TAIL);
            }
            self.lock().free_direct(at, order, Migratetype::Isolate);
            at = at.offset(1 << order.get());
        }
    }

    /// Returns the order of the first block in which frames of a range are freed.
    fn freed_as(&self, at: FrameIndex, pages: u32) -> Order {
        if !self.switches.ranges_freed_in_blocks {
            return Order::ZERO;
        }
        self.largest_block(at, pages)
    }

    /// Returns the order of the largest block that can start at a frame and has at most `pages` pages.
    pub(super) fn largest_block(&self, at: FrameIndex, pages: u32) -> Order {
        // An index is aligned as its address is, up to the largest order.
        let by_alignment = at.0.trailing_zeros();
        Order::new(by_alignment.min(pages.ilog2()) as u8)
            .map_or(self.max_order, |order| order.min(self.max_order))
    }

    /// Joins the owner's single pages from a frame on into one block, so that they are freed at once. The block has at
    /// most `most` pages. Returns its order. The order is 0, and nothing has changed, if the pages differ or another
    /// caller owns one of them.
    fn join_pages(&self, pfn: Pfn, most: u64) -> Order {
        let Some(first) = self.frames.index(pfn) else { return Order::ZERO };
        let inside = most.min(u64::from(self.frames.end().0 - first.0)) as u32;
        let order = self.freed_as(first, inside);
        let end = first.offset(1 << order.get());
        let page = self.frames.word(first);
        let is_taken = |&index: &u32| {
            let index = FrameIndex(index);
            self.frames.word(index) == page && self.reclaim_ownership(index, Order::ZERO).is_ok()
        };
        if order == Order::ZERO {
            return order;
        }
        let taken = (first.0..end.0).take_while(is_taken).count() as u32;
        if taken < end.0 - first.0 {
            (first.0..first.0 + taken).for_each(|index| self.frames.hand_over(FrameIndex(index), page));
            return Order::ZERO;
        }
        (first.0 + 1..end.0).for_each(|tail| self.frames.set_word(FrameIndex(tail), FrameWord::TAIL));
        self.frames.hand_over(first, FrameWord::allocated(order, page.migratetype(), page.is_movable()));
        order
    }
}

impl<P: Platform> ZoneGuard<'_, '_, P> {
    /// Takes the free blocks that cover a range of isolated pageblocks off the free lists, or none. Returns the frames
    /// of these blocks, all of which are now tails.
    ///
    /// Linux counterpart: `test_pages_isolated`, `isolate_freepages_range`.
    pub(super) fn take_isolated(
        &mut self,
        first: FrameIndex,
        end: FrameIndex,
    ) -> Result<Range<FrameIndex>, BlockError> {
        let zone = self.zone;
        let outer_first = zone.frames.block_head(first);
        let mut at = outer_first;
        // Free blocks may merge once the lock is released, so they are taken in the same hold.
        while at < end {
            let word = zone.frames.word(at);
            if zone.blocks.get(at) != Migratetype::Isolate {
                return Err(BlockError::WrongState);
            }
            if !word.is_free_of(word.order()) {
                return Err(BlockError::Busy);
            }
            at = at.offset(1 << word.order().get());
        }
        let outer_end = at;
        at = outer_first;
        while at < outer_end {
            let order = zone.frames.word(at).order();
            self.update_list(at, order, ListOp::Leave);
            at = at.offset(1 << order.get());
        }
        Ok(outer_first..outer_end)
    }
}
