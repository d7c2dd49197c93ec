//! The walk over a pageblock's frames that counts its pages by use.

use super::frame::{FrameIndex, FrameKind};
use super::frame_table::FrameTable;
use crate::types::{Migratetype, PageblockUse};

impl FrameTable<'_> {
    /// Returns the use of the frames `start..end`, in a pageblock of type `own`, and the number of blocks and single
    /// frames that the walk read.
    #[inline]
    pub(crate) fn use_between(
        &self,
        start: FrameIndex,
        end: FrameIndex,
        own: Migratetype,
    ) -> (PageblockUse, u64) {
        let mut used = PageblockUse { start: self.pfn(start), ..PageblockUse::default() };
        let (mut at, mut read, mut absent) = (start, 0, 0);
        while at < end {
            read += 1;
            let head = if at == start { self.block_head(at) } else { at };
            let word = self.word(head);
            let is_block = matches!(word.kind(), FrameKind::Free | FrameKind::PerCpu | FrameKind::Allocated);
            let block_end = if is_block { head.offset(1 << word.order().get()) } else { at.offset(1) };
            let next = block_end.max(at.offset(1)).min(end);
            let pages = next.0 - at.0;
            match word.kind() {
                FrameKind::Free => used.free += pages,
                FrameKind::PerCpu => used.percpu += pages,
                FrameKind::Allocated => {
                    used.allocated[word.migratetype().index().min(2)] += pages;
                    used.movable += if word.is_movable() { pages } else { 0 };
                }
                FrameKind::Reserved => used.reserved += pages,
                FrameKind::Absent => absent += pages,
                FrameKind::Tail | FrameKind::InTransit => {}
            }
            at = next;
        }
        if absent < end.0 - start.0 {
            used.migratetype = Some(own);
        }
        (used, read)
    }
}
