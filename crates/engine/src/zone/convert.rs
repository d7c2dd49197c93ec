//! Changes of a pageblock's type together with its free pages.

use super::free_area::ListOp;
use super::guard::ZoneGuard;
use crate::table::{FrameIndex, FrameKind, FrameWord, Run};
use crate::types::{BlockError, Migratetype, Order, Platform};

impl<P: Platform> ZoneGuard<'_, '_, P> {
    /// Returns the first frame of the pageblock around `index`, which must lie completely in the zone.
    ///
    /// Linux counterpart: `prep_move_freepages_block`.
    pub(crate) fn whole_pageblock(&self, index: FrameIndex) -> Result<FrameIndex, BlockError> {
        let start = self.zone.blocks.start_of(index);
        let last = start.offset(self.zone.blocks.pages() - 1);
        if self.zone.frames.contains(start) && self.zone.frames.contains(last) {
            Ok(start)
        } else {
            Err(BlockError::StraddlesZone)
        }
    }

    /// Moves the free blocks that start between `start` and `end` to another type's lists.
    ///
    /// Returns the number of pages moved. Linux counterpart: `__move_freepages_block`.
    pub(super) fn move_free_blocks(&mut self, start: FrameIndex, end: FrameIndex, to: Migratetype) -> u64 {
        let mut moved = 0;
        let mut at = start;
        while at < end {
            let word = self.zone.frames.word(at);
            let order = word.order();
            at = match word.kind() {
                FrameKind::Free => {
                    self.update_list(at, order, ListOp::Change(to));
                    moved += order.pages();
                    at.offset(1 << order.get())
                }
                FrameKind::PerCpu | FrameKind::Allocated => at.offset(1 << order.get()),
                _ => at.offset(1),
            };
        }
        moved
    }

    /// Gives a whole pageblock another type and moves its free pages along.
    ///
    /// `start` comes from [`Self::whole_pageblock`]. Returns the number of pages moved.
    pub(crate) fn convert_pageblock(&mut self, start: FrameIndex, to: Migratetype) -> u64 {
        self.zone.blocks.set(start, to);
        self.move_free_blocks(start, start.offset(self.zone.blocks.pages()), to)
    }

    /// Counts, in their pageblocks, blocks that have left the free lists for a request of type `wanted`.
    #[inline]
    pub(crate) fn count_taken(&mut self, run: Run, wanted: Migratetype) {
        if self.zone.switches.claims_by_counts && wanted == Migratetype::Movable {
            self.zone.blocks.count_taken(run);
        }
    }

    /// Returns the number of a block's pages that left the free lists for movable requests, for [`Self::count_returned`].
    /// 0 if the last owner does not decide that.
    #[inline]
    pub(crate) fn movable_by_owner(&self, index: FrameIndex) -> u32 {
        if self.zone.blocks.counts_by_owner() { self.zone.frames.word(index).movable_pages() } else { 0 }
    }

    /// Counts, in its pageblock, a block that has returned to the free lists. `movable_pages` of its pages had left the
    /// lists for movable requests.
    #[inline]
    pub(crate) fn count_returned(&mut self, index: FrameIndex, order: Order, movable_pages: u32) {
        self.zone.blocks.count_returned(index, order, movable_pages);
    }

    /// Notes that a block has left the free lists for a request.
    pub(crate) fn mark_taken(&mut self, index: FrameIndex, order: Order, migratetype: Migratetype) {
        self.zone.frames.set_word(index, FrameWord::head(FrameKind::InTransit, order, migratetype));
    }
}
