//! Bringing frames into service, as boot and hotplug do.

use core::ops::Range;

use crate::memory::Memory;
use crate::table::{FrameIndex, FrameKind, FrameWord, Run};
use crate::types::{BlockError, Migratetype, Order, Pfn, Platform, SetupError};
use crate::zone::{Insertion, Zone, ZoneGuard};

impl<P: Platform> Memory<'_, P> {
    /// Brings absent frames into service as free pages, and counts them as managed. [`Memory::offline_range`] may have
    /// taken the frames out of service, or they were absent since the memory was set up.
    ///
    /// A zone grows only within its span. An embedder that expects memory later sets [`crate::ZoneConfig::spanned`] to
    /// the size that the zone may reach. A zone may begin without any memory. Watermarks and the settings of CPUs'
    /// lists do not change.
    /// Linux counterpart: `online_pages`.
    ///
    /// # Errors
    /// As [`Zone::add_free`].
    pub fn online_range(&self, start: Pfn, pages: u64) -> Result<(), SetupError> {
        let zone = self.zone_of(start).ok_or(SetupError::EmptyZone)?;
        let mut guard = zone.lock();
        guard.add_free(start, pages)?;
        guard.count_managed(pages as i64);
        Ok(())
    }
}

impl<P: Platform> Zone<'_, P> {
    /// Sets the type of a pageblock that has no free block yet.
    ///
    /// # Errors
    /// [`BlockError::OutsideZone`] for a frame of another zone,
    /// [`BlockError::WrongState`] if the pageblock already has a free block, or is isolated.
    pub fn set_block_type(&self, pfn: Pfn, migratetype: Migratetype) -> Result<(), BlockError> {
        let index = self.frames.index(pfn).ok_or(BlockError::OutsideZone)?;
        let guard = self.lock();
        let start = self.blocks.start_of(index).max(self.frames.start());
        let end = self.blocks.start_of(index).offset(self.blocks.pages()).min(self.frames.end());
        let in_use = (start.0..end.0).any(|at| self.frames.word(FrameIndex(at)).kind() == FrameKind::Free);
        if in_use || self.blocks.get(index) == Migratetype::Isolate {
            return Err(BlockError::WrongState);
        }
        self.blocks.set(index, migratetype);
        drop(guard);
        Ok(())
    }

    /// Brings absent frames into service as free pages.
    ///
    /// The blocks are as large as alignment allows, and go to the tails of the free lists. The number of managed pages
    /// does not change, because the configuration already counts them; [`Memory::online_range`] adds to it.
    ///
    /// # Errors
    /// [`SetupError::EmptyZone`] if a frame is outside the zone, and [`SetupError::OverlappingZones`] if a frame is
    /// already in service. After an error nothing has changed.
    pub fn add_free(&self, start: Pfn, pages: u64) -> Result<(), SetupError> {
        self.lock().add_free(start, pages)
    }

    /// Brings absent frames into service as reserved pages, which are never freed.
    ///
    /// # Errors
    /// As [`Zone::add_free`].
    pub fn add_reserved(&self, start: Pfn, pages: u64) -> Result<(), SetupError> {
        let guard = self.lock();
        let (at, end) = self.absent_range(start, pages)?;
        for index in at.0..end.0 {
            self.frames.set_word(FrameIndex(index), FrameWord::RESERVED);
        }
        guard.count_present(pages as i64);
        Ok(())
    }

    /// Brings absent frames into service as one allocated block.
    ///
    /// # Errors
    /// As [`Zone::add_free`], and for a frame that is not aligned to `order`.
    pub fn add_allocated(
        &self,
        start: Pfn,
        order: Order,
        migratetype: Migratetype,
    ) -> Result<(), SetupError> {
        let mut guard = self.lock();
        let (at, end) = self.absent_range(start, order.pages())?;
        if !at.is_aligned(order) {
            return Err(SetupError::EmptyZone);
        }
        for index in at.0 + 1..end.0 {
            self.frames.set_word(FrameIndex(index), FrameWord::TAIL);
        }
        guard.count_taken(Run::single(at, order), migratetype);
        guard.count_present(order.pages() as i64);
        self.frames.set_word(at, FrameWord::requested(order, migratetype));
        Ok(())
    }

    /// Returns the first frame and the end of a range of absent frames. The caller holds the zone lock.
    pub(crate) fn absent_range(
        &self,
        start: Pfn,
        pages: u64,
    ) -> Result<(FrameIndex, FrameIndex), SetupError> {
        let Some(Range { start: at, end }) = self.frames.range(start, pages) else {
            let is_inside = self.why_no_range(start, pages) == BlockError::Unmovable;
            return Err(if is_inside { SetupError::NoSection } else { SetupError::EmptyZone });
        };
        match (at.0..end.0).find(|&index| self.frames.word(FrameIndex(index)).kind() != FrameKind::Absent) {
            Some(taken) => Err(SetupError::OverlappingZones { at: self.frames.pfn(FrameIndex(taken)) }),
            None => Ok((at, end)),
        }
    }
}

impl<P: Platform> ZoneGuard<'_, '_, P> {
    /// Brings absent frames into service as [`Zone::add_free`] does.
    fn add_free(&mut self, start: Pfn, pages: u64) -> Result<(), SetupError> {
        let zone = self.zone;
        let (mut at, end) = zone.absent_range(start, pages)?;
        self.count_present(pages as i64);
        while at < end {
            let order = zone.largest_block(at, end.0 - at.0);
            for tail in at.0..at.0 + (1 << order.get()) {
                zone.frames.set_word(FrameIndex(tail), FrameWord::TAIL);
            }
            self.free_by_pageblock(at, order, Insertion::Tail);
            at = at.offset(1 << order.get());
        }
        Ok(())
    }
}
