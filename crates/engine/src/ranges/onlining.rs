//! Bringing frames into service, as boot and hotplug do.

use crate::table::sync::Locks;
use crate::table::{FrameIndex, FrameKind, FrameWord, Run};
use crate::types::{BlockError, Migratetype, Order, Pfn, SetupError};
use crate::zone::{Insertion, Zone};

impl<L: Locks> Zone<'_, L> {
    /// Sets the type of a pageblock that has no free block yet.
    ///
    /// # Errors
    /// [`BlockError::OutsideZone`] for a frame of another zone,
    /// [`BlockError::WrongState`] if a free block lies in the pageblock already.
    pub fn set_block_type(&self, pfn: Pfn, migratetype: Migratetype) -> Result<(), BlockError> {
        let index = self.frames.index(pfn).ok_or(BlockError::OutsideZone)?;
        let guard = self.lock();
        let start = self.blocks.start_of(index).max(self.frames.start());
        let end = self.blocks.start_of(index).offset(self.blocks.pages()).min(self.frames.end());
        let in_use = (start.0..end.0).any(|at| self.frames.word(FrameIndex(at)).kind() == FrameKind::Free);
        if in_use {
            return Err(BlockError::WrongState);
        }
        self.blocks.set(index, migratetype);
        drop(guard);
        Ok(())
    }

    /// Brings absent frames into service as free pages.
    ///
    /// The blocks are as large as alignment allows, and go to the ends of the lists.
    ///
    /// # Errors
    /// [`SetupError::EmptyZone`] if a frame is outside the zone, and
    /// [`SetupError::OverlappingZones`] if one is in service already; nothing has changed then.
    pub fn add_free(&self, start: Pfn, pages: u64) -> Result<(), SetupError> {
        let (mut at, end) = self.absent_range(start, pages)?;
        let mut guard = self.lock();
        while at < end {
            let by_alignment = Order::new(at.0.trailing_zeros().min(u32::from(Order::MAX.get())) as u8);
            let by_length = Order::new((end.0 - at.0).ilog2().min(u32::from(Order::MAX.get())) as u8);
            let order = by_alignment.min(by_length).unwrap_or(Order::ZERO).min(self.max_order);
            for tail in at.0..at.0 + (1 << order.get()) {
                self.frames.set_word(FrameIndex(tail), FrameWord::TAIL);
            }
            guard.free_by_pageblock(at, order, Insertion::Tail);
            at = at.offset(1 << order.get());
        }
        Ok(())
    }

    /// Brings absent frames into service as pages in use that are never freed.
    ///
    /// # Errors
    /// As [`Zone::add_free`].
    pub fn add_reserved(&self, start: Pfn, pages: u64) -> Result<(), SetupError> {
        let (at, end) = self.absent_range(start, pages)?;
        for index in at.0..end.0 {
            self.frames.set_word(FrameIndex(index), FrameWord::RESERVED);
        }
        Ok(())
    }

    /// Brings absent frames into service as one allocated block.
    ///
    /// # Errors
    /// As [`Zone::add_free`]; also for a frame that is not aligned to `order`.
    pub fn add_allocated(
        &self,
        start: Pfn,
        order: Order,
        migratetype: Migratetype,
    ) -> Result<(), SetupError> {
        let (at, end) = self.absent_range(start, order.pages())?;
        if !at.is_aligned(order) {
            return Err(SetupError::EmptyZone);
        }
        for index in at.0 + 1..end.0 {
            self.frames.set_word(FrameIndex(index), FrameWord::TAIL);
        }
        if self.switches.claims_by_counts {
            self.lock().count_taken(Run::single(at, order), migratetype);
        }
        self.frames.set_word(at, FrameWord::requested(order, migratetype));
        Ok(())
    }

    pub(super) fn absent_range(
        &self,
        start: Pfn,
        pages: u64,
    ) -> Result<(FrameIndex, FrameIndex), SetupError> {
        let at = self.frames.index(start).ok_or(SetupError::EmptyZone)?;
        if pages == 0 || u64::from(self.frames.end().0 - at.0) < pages {
            return Err(SetupError::EmptyZone);
        }
        let end = at.offset(pages as u32);
        match (at.0..end.0).find(|&index| self.frames.word(FrameIndex(index)).kind() != FrameKind::Absent) {
            Some(taken) => Err(SetupError::OverlappingZones { at: self.frames.pfn(FrameIndex(taken)) }),
            None => Ok((at, end)),
        }
    }
}
