//! Isolation of pageblocks: requests cannot get free pages of isolated pageblocks.

use crate::table::FrameIndex;
use crate::types::{BlockError, Migratetype, Pfn, Platform};
use crate::zone::{Isolation, Zone};

impl<P: Platform> Zone<'_, P> {
    /// Isolates the pageblock around a frame: its free pages cannot be allocated, nor can pages that are freed into it.
    ///
    /// CPUs' lists may still have pages of the pageblock, which requests may get. Call [`Zone::drain_all`] afterwards:
    /// then no later request gets a page of the pageblock until the isolation ends.
    ///
    /// # Errors
    /// See [`BlockError`]. After an error nothing has changed.
    pub fn isolate_block(&self, pfn: Pfn) -> Result<(), BlockError> {
        let index = self.frames.index(pfn).ok_or(BlockError::OutsideZone)?;
        let start = self.blocks.start_of(index);
        let all = Isolation { for_cma: true, only_cma: false, afterwards: Migratetype::Movable };
        self.isolate_edge(start, start, all)?;
        self.split_straddling(start.offset(self.blocks.pages()));
        Ok(())
    }

    /// Ends the isolation of the pageblock around a frame. The pageblock gets its former type.
    ///
    /// # Errors
    /// See [`BlockError`]. After an error nothing has changed.
    pub fn unisolate_block(&self, pfn: Pfn) -> Result<(), BlockError> {
        let index = self.frames.index(pfn).ok_or(BlockError::OutsideZone)?;
        let mut guard = self.lock();
        let former = self.blocks.get_beneath_isolation(index);
        guard.unisolate(index, former)
    }

    /// Isolates all pageblocks that a range touches, or none of them. As with [`Zone::isolate_block`], CPUs' lists may
    /// still have pages of them until [`Zone::drain_all`].
    ///
    /// The call fails if the range touches a CMA pageblock.
    /// Linux counterpart: `start_isolate_page_range` for `MIGRATE_MOVABLE`.
    ///
    /// # Errors
    /// See [`BlockError`]. After an error only the order of blocks on the free lists may have changed.
    pub fn isolate_range(&self, start: Pfn, pages: u64) -> Result<(), BlockError> {
        self.isolate_pageblocks(start, pages, Isolation::of(Migratetype::Movable))
    }

    /// Ends the isolation of all pageblocks that a range touches.
    ///
    /// Each pageblock gets its former type, or in eras before 6.17 the type `migratetype`. A range outside the zone is
    /// ignored.
    /// Linux counterpart: `undo_isolate_page_range`.
    pub fn undo_isolate_range(&self, start: Pfn, pages: u64, migratetype: Migratetype) {
        let Ok((first, end)) = self.pageblock_range(start, pages) else { return };
        self.unisolate_pageblocks(first, end, migratetype);
    }

    /// Returns the first frame of the pageblocks that a range touches, and the frame behind their last.
    pub(super) fn pageblock_range(
        &self,
        start: Pfn,
        pages: u64,
    ) -> Result<(FrameIndex, FrameIndex), BlockError> {
        let range = self.frames.range(start, pages).ok_or_else(|| self.why_no_range(start, pages))?;
        let last = FrameIndex(range.end.0 - 1);
        Ok((self.blocks.start_of(range.start), self.blocks.start_of(last).offset(self.blocks.pages())))
    }

    /// Isolates all pageblocks of a range, or none of them. The first and the last come before those between, so that
    /// an edge that cannot be isolated is found before the rest changes.
    pub(super) fn isolate_pageblocks(
        &self,
        start: Pfn,
        pages: u64,
        isolation: Isolation,
    ) -> Result<(), BlockError> {
        let (first, end) = self.pageblock_range(start, pages)?;
        let block = self.blocks.pages();
        let last = FrameIndex(end.0 - block);
        self.isolate_edge(first, first, isolation)?;
        if last == first {
            self.split_straddling(end);
        } else if let Err(error) = self.isolate_edge(last, end, isolation) {
            let _ = self.lock().unisolate(first, self.afterwards(first, isolation.afterwards));
            return Err(error);
        }
        let mut at = first.offset(block);
        while at < last {
            // The lock must be released before the other pageblocks are restored.
            let isolated = self.lock().isolate(at, isolation);
            if let Err(error) = isolated {
                self.unisolate_pageblocks(first, at, isolation.afterwards);
                self.unisolate_pageblocks(last, end, isolation.afterwards);
                return Err(error);
            }
            at = at.offset(block);
        }
        Ok(())
    }

    /// Isolates the pageblock at an edge of a range. Splits a free block that lies across the edge.
    ///
    /// Linux counterpart: `isolate_single_pageblock`.
    fn isolate_edge(
        &self,
        start: FrameIndex,
        boundary: FrameIndex,
        isolation: Isolation,
    ) -> Result<(), BlockError> {
        self.lock().isolate(start, isolation)?;
        self.split_straddling(boundary);
        Ok(())
    }

    pub(super) fn unisolate_pageblocks(&self, first: FrameIndex, end: FrameIndex, afterwards: Migratetype) {
        let mut at = first;
        while at < end {
            let _ = self.lock().unisolate(at, self.afterwards(at, afterwards));
            at = at.offset(self.blocks.pages());
        }
    }

    /// Returns the type of a pageblock after its isolation.
    fn afterwards(&self, index: FrameIndex, migratetype: Migratetype) -> Migratetype {
        if self.switches.isolation_keeps_type {
            self.blocks.get_beneath_isolation(index)
        } else {
            migratetype
        }
    }
}
