//! What a pageblock holds, and the one walk over its frames that tells.

use super::frame::{FrameIndex, FrameKind};
use super::frame_table::FrameTable;
use crate::types::{Migratetype, Pfn};

/// What one pageblock holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PageblockUse {
    /// First frame of the pageblock that is inside the zone.
    pub start: Pfn,
    /// The pageblock's type; `None` where the zone has only holes there.
    pub migratetype: Option<Migratetype>,
    /// Pages on free lists.
    pub free: u32,
    /// Pages on per-CPU lists.
    pub percpu: u32,
    /// Allocated pages by the type that was asked for: unmovable, movable, reclaimable.
    pub allocated: [u32; 3],
    /// Allocated pages that can be migrated.
    pub movable: u32,
    /// Pages in use since before the allocator started.
    pub reserved: u32,
}

impl PageblockUse {
    /// Returns true if pages of another type than the pageblock's own are allocated in it.
    ///
    /// Linux counterpart: the pageblocks that `pagetypeinfo` counts as mixed with `page_owner`.
    pub fn is_mixed(&self) -> bool {
        self.migratetype.is_some_and(|kind| {
            let own = if kind == Migratetype::Cma { Migratetype::Movable } else { kind };
            self.allocated.iter().enumerate().any(|(index, &pages)| pages > 0 && index != own.index())
        })
    }

    /// Returns how many of a foreign pageblock's `pages` are in use like the wanted ones: movable pages
    /// for a movable request, pages that stay for any other.
    #[inline]
    pub(crate) fn like_wanted(&self, pages: u32, foreign: Migratetype, wanted: Migratetype) -> u32 {
        match (wanted, foreign) {
            (Migratetype::Movable, _) => self.movable,
            (_, Migratetype::Movable) => pages - self.free - self.movable,
            // Unmovable and reclaimable pages cannot be told apart.
            _ => 0,
        }
    }
}

impl FrameTable<'_> {
    /// Returns what the frames from `start` to before `end` hold, in a pageblock of type `own`, and the
    /// number of blocks and single frames that the walk read.
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
