//! What each pageblock of a zone holds.

use super::state::Zone;
use crate::table::sync::Locks;
use crate::table::{FrameIndex, FrameKind, PageblockUse};
use crate::types::MIGRATETYPES;

impl<L: Locks> Zone<'_, L> {
    /// What each pageblock holds, from low to high. Approximate while others allocate.
    pub fn pageblocks(&self) -> impl Iterator<Item = PageblockUse> + '_ {
        self.pageblock_ends().map(|(start, end)| self.pageblock_use_between(start, end))
    }

    /// The first frame of each pageblock and the one behind its last, as far as they are in the zone.
    pub(crate) fn pageblock_ends(&self) -> impl Iterator<Item = (FrameIndex, FrameIndex)> + '_ {
        (0..self.blocks.len() as u32).filter_map(|number| {
            let start = FrameIndex(number << self.blocks.order().get());
            let end = start.offset(self.blocks.pages()).min(self.frames.end());
            let start = start.max(self.frames.start());
            (start < end).then_some((start, end))
        })
    }

    /// Pageblocks that hold any memory, by [`Migratetype::index`]; no lock.
    ///
    /// Linux counterpart: `pagetypeinfo_showblockcount_print`, which looks at the
    /// first frame of each pageblock only.
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

    pub(crate) fn pageblock_use_between(&self, start: FrameIndex, end: FrameIndex) -> PageblockUse {
        let mut used = PageblockUse { start: self.frames.pfn(start), ..PageblockUse::default() };
        let mut absent = 0;
        let mut at = start;
        while at < end {
            let head = if at == start { self.frames.block_head(at) } else { at };
            let word = self.frames.word(head);
            let is_block = matches!(word.kind(), FrameKind::Free | FrameKind::PerCpu | FrameKind::Allocated);
            let block_end = if is_block { head.offset(1 << word.order().get()) } else { at.offset(1) };
            let next = block_end.max(at.offset(1)).min(end);
            let pages = next.0 - at.0;
            match word.kind() {
                FrameKind::Free => used.free += pages,
                FrameKind::PerCpu => used.percpu += pages,
                FrameKind::Allocated => {
                    used.allocated[word.migratetype().index().min(2)] += pages;
                }
                FrameKind::Reserved => used.reserved += pages,
                FrameKind::Absent => absent += pages,
                FrameKind::Tail | FrameKind::InTransit => {}
            }
            at = next;
        }
        if absent < end.0 - start.0 {
            used.migratetype = Some(self.blocks.get(start));
        }
        used
    }
}
