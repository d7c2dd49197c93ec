//! Tidying pageblocks: three rules that Linux does not have.
//!
//! In Linux a pageblock changes its type only for a request that found no block of its own type, and is
//! emptied only where a request waits for a large block. Here the embedder makes a call from time to time.
//! A pageblock gets the type of the pages that stay in it, so that such pages come to lie together. A few
//! movable pages in a pageblock of another type leave it. A pageblock with only movable pages is emptied
//! into fuller ones, which makes some pageblocks free and others full. The two numbers that a pageblock
//! keeps tell which ones to look at more closely.

use super::relocate::Relocate;
use crate::memory::Memory;
use crate::table::sync::Locks;
use crate::table::{FrameIndex, FrameKind, Run};
use crate::types::{Migratetype, Order, ZoneType};
use crate::zone::{Insertion, LOOKS, Zone, ZoneGuard};

/// Few pages are at most one in so many of a pageblock.
const FEW: u32 = 8;

impl<L: Locks> Memory<'_, L> {
    /// Tidies a node's pageblocks, from where the last call stopped, until about `pages` were moved or
    /// every pageblock was passed once. An embedder calls it from time to time, as Linux wakes kcompactd.
    /// The zone lock is held for a pageblock, a block or a batch of a list at a time. Pageblocks that
    /// begin or end without memory are left alone. A thread that owns a [`crate::Exclusive`] must not call
    /// it, because it takes the locks of the CPUs' lists.
    ///
    /// With [`crate::Switches::retypes_pageblocks`] a movable pageblock becomes unmovable or reclaimable
    /// if at least seven eighths of its pages stay where they are. A pageblock of another type becomes
    /// movable if at most an eighth of its pages stay and at least a quarter are movable. With
    /// [`crate::Switches::unmixes_pageblocks`] the movable pages of a pageblock of another type, if they
    /// are at most an eighth of it, move to movable pageblocks. With
    /// [`crate::Switches::empties_pageblocks`] the pages of a movable pageblock without other pages, and
    /// at least an eighth free, move to the smallest free blocks in fuller pageblocks. If the CPUs' lists
    /// hold some of its pages, they are drained, at most once for each zone and call.
    ///
    /// Linux counterpart: none; `compact_node` empties pageblocks by their place in the zone.
    pub fn tidy_pageblocks<E: Relocate>(&self, node: u16, pages: u64, embedder: &mut E) {
        let mut left = pages;
        for zone in self.zones_of(node, ZoneType::Device) {
            let moved = zone.tidy(left, embedder);
            self.events.pgmigrate_success.add(moved);
            left = left.saturating_sub(moved);
        }
    }
}

/// What is to be done about a pageblock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Chore {
    Nothing,
    Retype(Migratetype),
    /// Move its movable pages away.
    Empty,
    /// Move its pages away, after the CPUs' lists are drained.
    Drain,
}

impl<L: Locks> Zone<'_, L> {
    /// Tidies the zone until `most` pages were moved or every pageblock was passed. Returns the number of
    /// pages moved.
    fn tidy<E: Relocate>(&self, most: u64, embedder: &mut E) -> u64 {
        let switches = self.switches;
        if !(switches.retypes_pageblocks || switches.unmixes_pageblocks || switches.empties_pageblocks) {
            return 0;
        }
        let blocks = self.blocks.len() as u32;
        let first = self.lock().state.tidied_to;
        let (mut passed, mut moved) = (0, 0);
        let mut is_drained = false;
        while passed < blocks && moved < most {
            let start = FrameIndex(((first + passed) % blocks) << self.blocks.order().get());
            let mut chore = self.chore(start);
            if chore == Chore::Drain && !is_drained {
                self.drain_all();
                is_drained = true;
                chore = self.chore(start);
            }
            match chore {
                Chore::Nothing | Chore::Drain => {}
                Chore::Retype(to) => self.retype(start, to),
                Chore::Empty => moved += self.empty(start, embedder),
            }
            passed += 1;
        }
        self.lock().state.tidied_to = (first + passed) % blocks.max(1);
        moved
    }

    /// Returns what is to be done about the pageblock at `start`. Approximate while others allocate.
    fn chore(&self, start: FrameIndex) -> Chore {
        let pages = self.blocks.pages();
        let end = start.offset(pages);
        let own = self.blocks.get(start);
        let inside = start >= self.frames.start() && end <= self.frames.end();
        if !inside || !own.is_mergeable() || self.has_hole(start, end) {
            return Chore::Nothing;
        }
        // A pageblock that is one block needs no tidying.
        let head = self.frames.word(self.frames.block_head(start));
        let is_block = matches!(head.kind(), FrameKind::Free | FrameKind::Allocated);
        if is_block && head.order() >= self.blocks.order() {
            return Chore::Nothing;
        }
        let Some(counted) = self.blocks.counted_use(start) else { return Chore::Nothing };
        let stays = pages.saturating_sub(counted.free + counted.movable);
        if self.chore_of(own, stays, counted.movable) == Chore::Nothing {
            return Chore::Nothing;
        }
        // A walk over the frames tells more kinds of pages apart.
        let used = self.pageblock_use_between(start, end);
        let [unmovable, movable, reclaimable] = used.allocated;
        let unmovable = unmovable + used.reserved;
        match self.chore_of(own, unmovable + reclaimable, movable) {
            Chore::Empty if used.percpu > 0 && own == Migratetype::Movable => Chore::Drain,
            Chore::Retype(Migratetype::Unmovable) if reclaimable > unmovable => {
                Chore::Retype(Migratetype::Reclaimable)
            }
            chore => chore,
        }
    }

    /// Returns true if a pageblock begins or ends without memory, so that its numbers do not tell what it
    /// holds.
    fn has_hole(&self, start: FrameIndex, end: FrameIndex) -> bool {
        let is_absent = |index| self.frames.word(index).kind() == FrameKind::Absent;
        is_absent(start) || is_absent(FrameIndex(end.0 - 1))
    }

    /// Returns what is to be done about a pageblock with `stays` pages that stay where they are and
    /// `movable` ones.
    fn chore_of(&self, own: Migratetype, stays: u32, movable: u32) -> Chore {
        let (pages, switches) = (self.blocks.pages(), self.switches);
        let few = (pages / FEW).max(1);
        if own != Migratetype::Movable {
            return if switches.retypes_pageblocks && stays <= few && movable >= pages / 4 {
                Chore::Retype(Migratetype::Movable)
            } else if switches.unmixes_pageblocks && (1..=few).contains(&movable) {
                Chore::Empty
            } else {
                Chore::Nothing
            };
        }
        if switches.retypes_pageblocks && stays >= pages - few {
            Chore::Retype(Migratetype::Unmovable)
        } else if switches.empties_pageblocks && stays == 0 && pages.saturating_sub(movable) >= few {
            Chore::Empty
        } else {
            Chore::Nothing
        }
    }

    fn retype(&self, start: FrameIndex, to: Migratetype) {
        let mut guard = self.lock();
        // Another caller may have isolated or reserved the pageblock meanwhile, or it may be part of a
        // free block larger than a pageblock.
        if self.chore(start) == Chore::Retype(to) {
            guard.convert_pageblock(start, to);
            guard.state.stats.retyped += 1;
        }
    }

    /// Moves the movable pages of a pageblock to others, as far as these have room. Returns the number of
    /// pages moved.
    fn empty<E: Relocate>(&self, start: FrameIndex, embedder: &mut E) -> u64 {
        let end = start.offset(self.blocks.pages());
        let (mut at, mut moved) = (start, 0);
        while at < end {
            let word = self.frames.word(at);
            let order = word.order();
            if word.kind() == FrameKind::Allocated && embedder.is_movable(self.frames.pfn(at), order) {
                let Some(to) = self.take_place(at, order) else { break };
                if !self.move_to(at, to, order, embedder) {
                    break;
                }
                moved += order.pages();
            }
            let is_block = matches!(word.kind(), FrameKind::Free | FrameKind::PerCpu | FrameKind::Allocated);
            at = at.offset(if is_block { 1 << order.get() } else { 1 });
        }
        moved
    }

    /// Moves a block to a place that was taken for it. Returns true if it moved.
    fn move_to<E: Relocate>(&self, from: FrameIndex, to: FrameIndex, order: Order, embedder: &mut E) -> bool {
        let has_moved = self.move_block(from, to, order, embedder);
        let mut guard = self.lock();
        let left = if has_moved { from } else { to };
        // Another caller may have freed the block meanwhile.
        if !has_moved || self.reclaim_ownership(from, order).is_ok() {
            let movable_pages = self.frames.word(left).movable_pages();
            guard.free_block(left, order, self.blocks.get(left), Insertion::ByMergeChance);
            guard.count_returned(left, order, movable_pages);
        }
        has_moved
    }

    /// Takes a free block of `order` for a block that is to leave the pageblock around `from`, or returns
    /// `None`.
    fn take_place(&self, from: FrameIndex, order: Order) -> Option<FrameIndex> {
        let mut guard = self.lock();
        if !guard.spares(order) {
            return None;
        }
        let (to, found) = guard.fuller_place(from, order)?;
        guard.take(to, order, found, Migratetype::Movable);
        guard.count_taken(Run::single(to, order), Migratetype::Movable);
        Some(to)
    }
}

impl<L: Locks> ZoneGuard<'_, '_, L> {
    /// Returns the smallest free movable block, of those at the heads of the lists, that lies in a
    /// pageblock with fewer free pages than the one around `from`. If that one is not movable, any
    /// pageblock will do.
    fn fuller_place(&mut self, from: FrameIndex, order: Order) -> Option<(FrameIndex, Order)> {
        let blocks = &self.zone.blocks;
        let free = |index| blocks.counted_use(index).unwrap_or_default().free;
        let is_movable = blocks.get(from) == Migratetype::Movable;
        let most = if is_movable { free(from) } else { blocks.pages() };
        let (mut looks, mut place) = (0, None);
        for found in order.up_to(blocks.order().down()?) {
            let list = self.state.lists.get(found, Migratetype::Movable);
            let heads = list.iter(&self.zone.frames).take(LOOKS).inspect(|_| looks += 1);
            place = heads.into_iter().find(|&index| free(index) < most).map(|index| (index, found));
            if place.is_some() {
                break;
            }
        }
        self.touch(looks);
        place
    }
}
