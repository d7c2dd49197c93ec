//! Taking pageblocks out of service, as memory hotplug does.

use core::ops::Range;

use super::evacuation::Evacuation;
use crate::compact::Relocate;
use crate::memory::Memory;
use crate::table::{FrameIndex, FrameWord};
use crate::types::{BlockError, Migratetype, Pfn, Platform};
use crate::zone::{Isolation, Zone, ZoneGuard};

impl<'m, P: Platform> Memory<'m, P> {
    /// Takes whole pageblocks out of service: isolates them, drains all CPUs' lists, lets the embedder move the pages
    /// in use to other pageblocks, and makes the frames absent.
    ///
    /// Afterwards the engine does not refer to the frames, and their memory may be unplugged. A free of one of them
    /// fails. [`Memory::online_range`] brings them back, as movable pageblocks. Other callers may allocate and free
    /// meanwhile; once the lists are drained, no request gets a page of the range. The numbers of present and managed
    /// pages go down. The zone's span, its watermarks and the settings of CPUs' lists do not change.
    ///
    /// `cpu` is the CPU that runs the caller. A thread that owns a [`crate::Exclusive`] must not call this function,
    /// because it takes the locks of all CPUs' lists.
    /// Linux counterpart: `offline_pages`, which retries until a signal arrives.
    ///
    /// # Errors
    /// - [`BlockError::Unaligned`]: the range does not consist of whole pageblocks.
    /// - [`BlockError::Unmovable`]: the range has pages that cannot be moved, CMA pageblocks or holes.
    /// - [`BlockError::WrongState`]: another caller has isolated a pageblock of the range. It stays isolated.
    /// - [`BlockError::NoRoom`]: the memory has no other place for the pages.
    /// - [`BlockError::Busy`]: a page did not move in five tries.
    ///
    /// After an error the range is still in service. Some pages may have moved.
    pub fn offline_range<E: Relocate>(
        &self,
        start: Pfn,
        pages: u64,
        cpu: u16,
        embedder: &mut E,
    ) -> Result<(), BlockError> {
        let (zone, range) = self.whole_pageblocks(start, pages)?;
        let isolation = Isolation::of(Migratetype::Movable);
        zone.isolate_pageblocks(start, pages, isolation)?;
        let done = self.offline_isolated(start, pages, cpu, embedder);
        if done.is_err() {
            zone.unisolate_pageblocks(range.start, range.end, isolation.afterwards);
        }
        done
    }

    /// Takes whole pageblocks out of service as [`Memory::offline_range`] does. The caller has isolated them before.
    ///
    /// This is for a caller that empties the range itself, or tries again. A CMA pageblock comes back as a movable one.
    ///
    /// # Errors
    /// As [`Memory::offline_range`], and [`BlockError::WrongState`] for a pageblock that is not isolated.
    /// The range stays isolated.
    pub fn offline_isolated<E: Relocate>(
        &self,
        start: Pfn,
        pages: u64,
        cpu: u16,
        embedder: &mut E,
    ) -> Result<(), BlockError> {
        let (zone, range) = self.whole_pageblocks(start, pages)?;
        if !zone.is_isolated(&range) {
            return Err(BlockError::WrongState);
        }
        let mut evacuation =
            Evacuation { memory: self, zone, range: range.clone(), isolated: range.clone(), cpu, embedder };
        evacuation.run(|| zone.take_out(range.clone()))
    }

    /// Returns the zone and the frames of a range of whole pageblocks.
    fn whole_pageblocks(
        &self,
        start: Pfn,
        pages: u64,
    ) -> Result<(&'m Zone<'m, P>, Range<FrameIndex>), BlockError> {
        let zone = self.zone_of(start).ok_or(BlockError::OutsideZone)?;
        let (first, end) = zone.pageblock_range(start, pages)?;
        let is_whole = zone.frames.pfn(first) == start && u64::from(end.0 - first.0) == pages;
        if is_whole { Ok((zone, first..end)) } else { Err(BlockError::Unaligned) }
    }
}

impl<P: Platform> Zone<'_, P> {
    /// Returns true if every pageblock of a range is isolated.
    fn is_isolated(&self, range: &Range<FrameIndex>) -> bool {
        let mut starts = (range.start.0..range.end.0).step_by(self.blocks.pages() as usize);
        starts.all(|start| self.blocks.get(FrameIndex(start)) == Migratetype::Isolate)
    }

    /// Takes isolated pageblocks out of service if they are completely free.
    ///
    /// Linux counterpart: `__offline_isolated_pages`.
    fn take_out(&self, range: Range<FrameIndex>) -> Result<(), BlockError> {
        let outer = {
            let mut guard = self.lock();
            let outer = guard.take_isolated(range.start, range.end)?;
            guard.retire(&range);
            outer
        };
        // A free block may have reached into a neighbouring pageblock that is isolated as well.
        self.give_back(outer.start, range.start);
        self.give_back(range.end, outer.end);
        Ok(())
    }
}

impl<P: Platform> ZoneGuard<'_, '_, P> {
    /// Makes the frames of whole pageblocks absent, and ends the isolation of these pageblocks.
    fn retire(&mut self, range: &Range<FrameIndex>) {
        let zone = self.zone;
        for index in range.start.0..range.end.0 {
            zone.frames.set_word(FrameIndex(index), FrameWord::ABSENT);
        }
        let block = zone.blocks.pages();
        for start in (range.start.0..range.end.0).step_by(block as usize).map(FrameIndex) {
            if zone.blocks.get_beneath_isolation(start) == Migratetype::HighAtomic {
                self.count_unreserved(block.into());
            }
            zone.blocks.set(start, Migratetype::Movable);
            self.state.isolated_blocks -= 1;
        }
        let pages = i64::from(range.end.0 - range.start.0);
        self.count_present(-pages);
        self.count_managed(-pages);
    }
}
