//! Allocating a range of frames by address.

use crate::memory::Memory;
use crate::table::sync::Locks;
use crate::table::{FrameIndex, FrameKind, FrameWord, Run};
use crate::types::{BlockError, Migratetype, Order, Pfn};
use crate::zone::{Isolation, Passage, Zone};

impl<L: Locks> Memory<'_, L> {
    /// Allocates exactly the frames of a range, each as a page of its own, or none.
    ///
    /// The range need not be aligned. `migratetype` is [`Migratetype::Cma`] for the owner of a contiguous
    /// memory area, otherwise [`Migratetype::Movable`]. Nothing is migrated: the call fails if a page of
    /// the range is in use. All per-CPU lists are given back on the way.
    /// Linux counterpart: `alloc_contig_range`.
    ///
    /// # Errors
    /// See [`BlockError`]; the same pages are free then as before.
    pub fn alloc_contig_range(
        &self,
        start: Pfn,
        pages: u64,
        migratetype: Migratetype,
    ) -> Result<(), BlockError> {
        let zone = self.zone_of(start).ok_or(BlockError::OutsideZone)?;
        let (first, end) = zone.pageblock_range(start, pages)?;
        let isolation = Isolation::of(migratetype);
        let taken = zone.isolate_pageblocks(start, pages, isolation).and_then(|()| {
            for cpu in 0..self.cpus() {
                zone.drain_cpu(cpu);
            }
            zone.take_range(start, pages)
        });
        // The isolation ends also after a failure, and for pageblocks that another caller had isolated.
        zone.unisolate_pageblocks(first, end, isolation.afterwards);
        taken
    }
}

impl<L: Locks> Zone<'_, L> {
    /// Takes an isolated range off the free lists.
    fn take_range(&self, start: Pfn, pages: u64) -> Result<(), BlockError> {
        let first = self.frames.index(start).ok_or(BlockError::OutsideZone)?;
        let end = first.offset(pages as u32);
        let (outer_first, outer_end) = self.free_blocks_around(first, end).ok_or(BlockError::Unmovable)?;
        {
            let mut guard = self.lock();
            let mut at = outer_first;
            while at < outer_end {
                let order = self.frames.word(at).order();
                guard.pass(at, order, Passage::Leave);
                at = at.offset(1 << order.get());
            }
            let pages = Run { first, blocks: end.0 - first.0, order: Order::ZERO, down: false };
            guard.count_taken(pages, Migratetype::Movable);
        }
        let page = FrameWord::requested(Order::ZERO, Migratetype::Movable);
        for index in first.0..end.0 {
            self.frames.hand_over(FrameIndex(index), page);
        }
        self.give_back(outer_first, first);
        self.give_back(end, outer_end);
        Ok(())
    }

    /// Returns the first frame and the end of the free blocks that cover a range, or `None` if a frame of
    /// the range is not free.
    fn free_blocks_around(&self, first: FrameIndex, end: FrameIndex) -> Option<(FrameIndex, FrameIndex)> {
        let _guard = self.lock();
        let outer_first = self.frames.block_head(first);
        let mut at = outer_first;
        while at < end {
            let word = self.frames.word(at);
            if word.kind() != FrameKind::Free {
                return None;
            }
            at = at.offset(1 << word.order().get());
        }
        Some((outer_first, at))
    }

    /// Frees the frames that were taken beyond the range, while their pageblock is still isolated.
    ///
    /// Linux counterpart: `free_contig_range`.
    fn give_back(&self, from: FrameIndex, end: FrameIndex) {
        let mut at = from;
        while at < end {
            let order = if self.switches.ranges_freed_in_blocks {
                let by_length = (end.0 - at.0).ilog2();
                // An index is aligned as its address is.
                let by_alignment = at.0.trailing_zeros();
                Order::new(by_alignment.min(by_length) as u8)
                    .map_or(self.max_order, |order| order.min(self.max_order))
            } else {
                Order::ZERO
            };
            for tail in at.0..at.0 + (1 << order.get()) {
                self.frames.set_word(FrameIndex(tail), FrameWord::TAIL);
            }
            self.lock().free_direct(at, order, Migratetype::Isolate);
            at = at.offset(1 << order.get());
        }
    }
}
