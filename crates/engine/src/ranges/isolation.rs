//! Isolating pageblocks: their free pages leave the reach of allocations.

use crate::table::sync::Locks;
use crate::table::{FrameIndex, FrameKind};
use crate::types::{BlockError, Migratetype, Order, Pfn};
use crate::zone::{Insertion, Passage, Zone, ZoneGuard};

/// Who isolates, and what the pageblocks become afterwards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Isolation {
    /// CMA pageblocks may be isolated, and only movable pages are expected in them.
    pub(crate) for_cma: bool,
    /// The type that pageblocks get when it ends, in the eras that do not remember theirs.
    pub(crate) afterwards: Migratetype,
}

impl Isolation {
    /// As a caller asks for it by type. Linux counterpart: the `migratetype` of
    /// `start_isolate_page_range`.
    pub(crate) fn of(migratetype: Migratetype) -> Self {
        Self { for_cma: migratetype == Migratetype::Cma, afterwards: migratetype }
    }
}

impl<L: Locks> Zone<'_, L> {
    /// Isolates the pageblock around a frame: its free pages cannot be allocated any more.
    ///
    /// # Errors
    /// See [`BlockError`]; nothing has changed then.
    pub fn isolate_block(&self, pfn: Pfn) -> Result<(), BlockError> {
        let index = self.frames.index(pfn).ok_or(BlockError::OutsideZone)?;
        let start = self.blocks.start_of(index);
        let all = Isolation { for_cma: true, afterwards: Migratetype::Movable };
        self.isolate_edge(start, start, all)?;
        self.split_straddling(start.offset(self.blocks.pages()));
        Ok(())
    }

    /// Ends the isolation of the pageblock around a frame; it gets its former type back.
    ///
    /// # Errors
    /// See [`BlockError`]; nothing has changed then.
    pub fn unisolate_block(&self, pfn: Pfn) -> Result<(), BlockError> {
        let index = self.frames.index(pfn).ok_or(BlockError::OutsideZone)?;
        let mut guard = self.lock();
        let former = self.blocks.get_beneath_isolation(index);
        guard.unisolate(index, former)
    }

    /// Isolates all pageblocks that a range touches, or none.
    ///
    /// CMA pageblocks refuse.
    /// Linux counterpart: `start_isolate_page_range` for `MIGRATE_MOVABLE`.
    ///
    /// # Errors
    /// See [`BlockError`]; nothing has changed then but the order of lists.
    pub fn isolate_range(&self, start: Pfn, pages: u64) -> Result<(), BlockError> {
        self.isolate_pageblocks(start, pages, Isolation::of(Migratetype::Movable))
    }

    /// Ends the isolation of all pageblocks that a range touches.
    ///
    /// Each gets its former type back; before 6.17 each becomes `migratetype`.
    /// Linux counterpart: `undo_isolate_page_range`.
    pub fn undo_isolate_range(&self, start: Pfn, pages: u64, migratetype: Migratetype) {
        let Ok((first, end)) = self.pageblock_range(start, pages) else { return };
        self.unisolate_pageblocks(first, end, migratetype);
    }

    /// The whole pageblocks that a range touches: the first frame and the one behind the last.
    pub(crate) fn pageblock_range(
        &self,
        start: Pfn,
        pages: u64,
    ) -> Result<(FrameIndex, FrameIndex), BlockError> {
        let first = self.frames.index(start).ok_or(BlockError::OutsideZone)?;
        if pages == 0 || u64::from(self.frames.end().0 - first.0) < pages {
            return Err(BlockError::OutsideZone);
        }
        let last = first.offset(pages as u32 - 1);
        Ok((self.blocks.start_of(first), self.blocks.start_of(last).offset(self.blocks.pages())))
    }

    /// The first pageblock, the last, and then those between: an end that cannot be
    /// isolated is found out before the rest is touched.
    pub(crate) fn isolate_pageblocks(
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
            // The lock is let go before the rest is undone.
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

    /// Isolates the pageblock at an edge of a range, and takes apart what straddles the edge.
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

    /// Takes apart a free block that lies across `boundary`; with hygiene, isolating a
    /// pageblock has done that already.
    fn split_straddling(&self, boundary: FrameIndex) {
        if self.switches.hygiene || !self.frames.contains(boundary) || boundary == self.frames.start() {
            return;
        }
        let mut guard = self.lock();
        let head = self.frames.block_head(FrameIndex(boundary.0 - 1));
        let word = self.frames.word(head);
        if word.kind() == FrameKind::Free && head.offset(1 << word.order().get()) > boundary {
            guard.pass(head, word.order(), Passage::Leave);
            guard.account(-(word.order().pages() as i64), self.blocks.get(head));
            guard.free_by_pageblock(head, word.order(), Insertion::ByMergeChance);
        }
    }

    pub(crate) fn unisolate_pageblocks(&self, first: FrameIndex, end: FrameIndex, afterwards: Migratetype) {
        let mut at = first;
        while at < end {
            let _ = self.lock().unisolate(at, self.afterwards(at, afterwards));
            at = at.offset(self.blocks.pages());
        }
    }

    /// What a pageblock becomes when its isolation ends.
    fn afterwards(&self, index: FrameIndex, migratetype: Migratetype) -> Migratetype {
        if self.switches.isolation_keeps_type {
            self.blocks.get_beneath_isolation(index)
        } else {
            migratetype
        }
    }
}

impl<L: Locks> ZoneGuard<'_, '_, L> {
    /// Isolates one pageblock.
    ///
    /// Linux counterpart: `set_migratetype_isolate`.
    fn isolate(&mut self, start: FrameIndex, isolation: Isolation) -> Result<(), BlockError> {
        let zone = self.zone;
        if !zone.frames.contains(start) {
            return Err(BlockError::StraddlesZone);
        }
        match zone.blocks.get(start) {
            Migratetype::Isolate => return Err(BlockError::WrongState),
            Migratetype::Cma if isolation.for_cma => {}
            Migratetype::Cma => return Err(BlockError::Unmovable),
            _ if self.holds_unmovable(start) => return Err(BlockError::Unmovable),
            _ => {}
        }
        if zone.switches.hygiene {
            self.whole_pageblock(start)?;
            self.toggle_isolation(start, Migratetype::Isolate);
        } else {
            let former = zone.blocks.get(start);
            zone.blocks.set_isolated(start);
            if let Some((start, end)) = self.clipped_pageblock(start) {
                let moved = self.move_free_blocks(start, end, Migratetype::Isolate);
                self.account(-(moved as i64), former);
            }
        }
        self.state.isolated_blocks += 1;
        self.state.ever_isolated = true;
        Ok(())
    }

    /// Ends one pageblock's isolation; it becomes `to`.
    ///
    /// Linux counterpart: `unset_migratetype_isolate`.
    fn unisolate(&mut self, index: FrameIndex, to: Migratetype) -> Result<(), BlockError> {
        let zone = self.zone;
        let start = zone.blocks.start_of(index);
        if !zone.frames.contains(start) || zone.blocks.get(start) != Migratetype::Isolate {
            return Err(BlockError::WrongState);
        }
        if let Some(order) = self.mergeable_now(start) {
            self.pass(start, order, Passage::Leave);
            zone.blocks.set(start, to);
            self.free_block(start, order, to, Insertion::Tail);
        } else if zone.switches.hygiene {
            self.toggle_isolation(start, to);
        } else {
            if let Some((start, end)) = self.clipped_pageblock(start) {
                let moved = self.move_free_blocks(start, end, to);
                self.account(moved as i64, to);
            }
            zone.blocks.set(start, to);
        }
        self.state.isolated_blocks -= 1;
        Ok(())
    }

    /// The order of the free block at `start`, if it is a pageblock or more and has a
    /// free buddy that is not isolated: while it was isolated the two could not merge.
    fn mergeable_now(&self, start: FrameIndex) -> Option<Order> {
        let zone = self.zone;
        let word = zone.frames.word(start);
        let order = word.order();
        if word.kind() != FrameKind::Free || order < zone.blocks.order() || order >= zone.max_order {
            return None;
        }
        let buddy = start.buddy(order);
        let merges = zone.frames.contains(buddy)
            && zone.frames.word(buddy).is_free_of(order)
            && zone.blocks.get(buddy) != Migratetype::Isolate;
        merges.then_some(order)
    }

    /// Gives a pageblock the type `to`, isolated or not, and moves its free pages along.
    ///
    /// Linux counterpart: `__move_freepages_block_isolate`.
    fn toggle_isolation(&mut self, start: FrameIndex, to: Migratetype) {
        let zone = self.zone;
        let change_type = || match to {
            Migratetype::Isolate => zone.blocks.set_isolated(start),
            other => zone.blocks.set(start, other),
        };
        let head = zone.frames.block_head(start);
        let word = zone.frames.word(head);
        if word.kind() == FrameKind::Free && word.order() > zone.blocks.order() {
            // The free block straddles this pageblock's ends: take it apart, so that
            // each pageblock's part lands on its own list.
            self.pass(head, word.order(), Passage::Leave);
            change_type();
            self.free_by_pageblock(head, word.order(), Insertion::ByMergeChance);
        } else {
            self.move_free_blocks(start, start.offset(zone.blocks.pages()), to);
            change_type();
        }
    }

    /// Whether a page of the pageblock can be neither freed nor migrated.
    ///
    /// Pages without references, as the tails of blocks, are taken for free ones.
    /// Linux counterpart: `has_unmovable_pages`.
    fn holds_unmovable(&self, start: FrameIndex) -> bool {
        let frames = &self.zone.frames;
        let end = start.offset(self.zone.blocks.pages());
        let mut at = start;
        while at < end {
            if !frames.contains(at) {
                return true;
            }
            let word = frames.word(at);
            match word.kind() {
                FrameKind::Reserved | FrameKind::Absent => return true,
                FrameKind::Allocated if !word.is_movable() => return true,
                FrameKind::Allocated | FrameKind::Free | FrameKind::PerCpu => {
                    at = at.offset(1 << word.order().get());
                }
                FrameKind::Tail | FrameKind::InTransit => at = at.offset(1),
            }
        }
        false
    }
}
