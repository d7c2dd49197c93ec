//! The use of each pageblock of a zone.

use super::state::Zone;
use crate::table::{FrameIndex, FrameKind};
use crate::types::{MIGRATETYPES, PageblockUse, Platform};

impl<P: Platform> Zone<'_, P> {
    /// Returns the use of each pageblock, from low to high addresses. Approximate while other callers allocate.
    pub fn pageblocks(&self) -> impl Iterator<Item = PageblockUse> + '_ {
        self.pageblock_ends().map(|(start, end)| self.pageblock_use_between(start, end))
    }

    /// Returns the first frame of each pageblock and the frame behind its last, both limited to the zone.
    pub(crate) fn pageblock_ends(&self) -> impl Iterator<Item = (FrameIndex, FrameIndex)> + '_ {
        (0..self.blocks.len() as u32).filter_map(|number| {
            let start = FrameIndex(number << self.blocks.order().get());
            let end = start.offset(self.blocks.pages()).min(self.frames.end());
            let start = start.max(self.frames.start());
            (start < end).then_some((start, end))
        })
    }

    /// Returns the number of pageblocks with memory, by `Migratetype::index`. Takes no lock.
    ///
    /// Linux counterpart: `pagetypeinfo_showblockcount_print`, which reads only the first frame of each pageblock.
    pub fn blocks_by_type(&self) -> [u64; MIGRATETYPES] {
        let mut blocks = [0; MIGRATETYPES];
        for (start, end) in self.pageblock_ends() {
            let has_memory =
                (start.0..end.0).any(|index| self.frames.word(FrameIndex(index)).kind() != FrameKind::Absent);
            if has_memory {
                blocks[self.blocks.get(start).index()] += 1;
            }
        }
        blocks
    }

    /// Returns the use of the pageblock around a frame: from its counts or, if it keeps none, from a walk over its
    /// frames. Also returns the number of blocks and single frames that the walk read.
    pub(crate) fn use_around(&self, index: FrameIndex) -> (PageblockUse, u64) {
        if let Some(counted) = self.blocks.counted_use(index) {
            return (counted, 0);
        }
        let first = self.blocks.start_of(index);
        let end = first.offset(self.blocks.pages()).min(self.frames.end());
        self.frames.use_between(first.max(self.frames.start()), end, self.blocks.get(index))
    }

    pub(crate) fn pageblock_use_between(&self, start: FrameIndex, end: FrameIndex) -> PageblockUse {
        self.frames.use_between(start, end, self.blocks.get(start)).0
    }
}
