//! Changing a pageblock's type together with its free pages: conversion and isolation.

use crate::buddy::Insertion;
use crate::frame::{FrameIndex, FrameKind, FrameWord};
use crate::free_area::Passage;
use crate::sync::Locks;
use crate::zone_guard::ZoneGuard;
use crate::{BlockError, Migratetype, Order};

impl<L: Locks> ZoneGuard<'_, '_, L> {
    /// The first frame of the pageblock around `index`, refused if the block
    /// reaches outside the zone: its free pages could not all move.
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

    /// The part of the pageblock whose free pages the eras without hygiene move:
    /// from `index` on where the block starts before the zone, none where it ends behind it.
    pub(crate) fn clipped_pageblock(&self, index: FrameIndex) -> Option<(FrameIndex, FrameIndex)> {
        let start = self.zone.blocks.start_of(index);
        let end = start.offset(self.zone.blocks.pages());
        let start = if self.zone.frames.contains(start) { start } else { index };
        (end <= self.zone.frames.end()).then_some((start, end))
    }

    /// Moves the free blocks that start between `start` and `end` to another type's lists.
    ///
    /// Returns the pages moved. Linux counterpart: `__move_freepages_block`.
    pub(crate) fn move_free_blocks(&mut self, start: FrameIndex, end: FrameIndex, to: Migratetype) -> u64 {
        let mut moved = 0;
        let mut at = start;
        while at < end {
            let word = self.zone.frames.word(at);
            let order = word.order();
            at = match word.kind() {
                FrameKind::Free => {
                    self.pass(at, order, Passage::Change(to));
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
    /// `start` comes from [`Self::whole_pageblock`]. Returns the pages moved.
    pub(crate) fn convert_pageblock(&mut self, start: FrameIndex, to: Migratetype) -> u64 {
        let moved = self.move_free_blocks(start, start.offset(self.zone.blocks.pages()), to);
        self.zone.blocks.set(start, to);
        moved
    }

    /// Isolates a pageblock: its free pages leave the reach of allocations.
    ///
    /// Linux counterpart: `set_migratetype_isolate`.
    pub(crate) fn isolate(&mut self, index: FrameIndex) -> Result<(), BlockError> {
        if self.zone.blocks.get(index) == Migratetype::Isolate {
            return Err(BlockError::WrongState);
        }
        let start = self.whole_pageblock(index)?;
        if self.holds_unmovable(start) {
            return Err(BlockError::Unmovable);
        }
        self.toggle_isolation(start, true);
        self.state.isolated_blocks += 1;
        Ok(())
    }

    /// Ends a pageblock's isolation; it gets back the type that it had.
    ///
    /// Linux counterpart: `unset_migratetype_isolate`.
    pub(crate) fn unisolate(&mut self, index: FrameIndex) -> Result<(), BlockError> {
        if self.zone.blocks.get(index) != Migratetype::Isolate {
            return Err(BlockError::WrongState);
        }
        let start = self.whole_pageblock(index)?;
        let blocks = &self.zone.blocks;
        let order = blocks.order();
        let one_free_block = self.zone.frames.word(start).is_free_of(order);
        let buddy = start.buddy(order);
        let can_merge_now = one_free_block
            && order < self.zone.max_order
            && self.zone.frames.contains(buddy)
            && self.zone.frames.word(buddy).is_free_of(order)
            && blocks.get(buddy) != Migratetype::Isolate;
        if can_merge_now {
            self.pass(start, order, Passage::Leave);
            blocks.set_isolated(start, false);
            self.free_block(start, order, blocks.get(start), Insertion::Tail);
        } else {
            self.toggle_isolation(start, false);
        }
        self.state.isolated_blocks -= 1;
        Ok(())
    }

    /// Linux counterpart: `__move_freepages_block_isolate`.
    fn toggle_isolation(&mut self, start: FrameIndex, isolate: bool) {
        let frames = &self.zone.frames;
        let head = frames.block_head(start);
        let word = frames.word(head);
        if word.kind() == FrameKind::Free && word.order() > self.zone.blocks.order() {
            // The free block straddles this pageblock's ends: take it apart, so that
            // each pageblock's part lands on its own list.
            self.pass(head, word.order(), Passage::Leave);
            self.zone.blocks.set_isolated(start, isolate);
            self.free_by_pageblock(head, word.order(), Insertion::ByMergeChance);
            return;
        }
        let to = if isolate { Migratetype::Isolate } else { self.zone.blocks.get_beneath_isolation(start) };
        let end = start.offset(self.zone.blocks.pages());
        if self.zone.switches.hygiene {
            self.move_free_blocks(start, end, to);
            self.zone.blocks.set_isolated(start, isolate);
        } else {
            self.zone.blocks.set_isolated(start, isolate);
            self.move_free_blocks(start, end, to);
        }
    }

    /// Linux counterpart: `has_unmovable_pages`.
    fn holds_unmovable(&self, start: FrameIndex) -> bool {
        let frames = &self.zone.frames;
        let end = start.offset(self.zone.blocks.pages());
        let mut at = frames.block_head(start);
        while at < end {
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

    /// Notes that a block has left the free lists for a request.
    pub(crate) fn mark_taken(&mut self, index: FrameIndex, order: Order, migratetype: Migratetype) {
        self.zone.frames.set_word(index, FrameWord::head(FrameKind::InTransit, order, migratetype));
    }
}
