//! Tidying pageblocks: three rules that Linux does not have.
//!
//! In Linux a pageblock changes its type only for a request that found no block of its own type, and is
//! emptied only where a request waits for a large block. Here the embedder makes a call from time to time.
//! A pageblock gets the type of the pages that stay in it, so that such pages come to lie together. A few
//! movable pages in a pageblock of another type leave it. A pageblock with only movable pages is emptied
//! into fuller ones, which makes some pageblocks free and others full. The two numbers that a pageblock
//! keeps tell which ones to look at more closely.

use super::emptying::{Emptying, Moves};
use super::relocate::Relocate;
use crate::memory::Memory;
use crate::table::sync::Locks;
use crate::table::{FrameIndex, FrameKind};
use crate::types::{Migratetype, ZoneType};
use crate::zone::Zone;

/// Few pages are at most one in so many of a pageblock.
const FEW: u32 = 8;

impl<L: Locks> Memory<'_, L> {
    /// Tidies a node's pageblocks, from where the last call stopped, until about `pages` were moved or
    /// every pageblock was passed once. An embedder calls it from time to time, as Linux wakes kcompactd.
    /// The zone lock is held for a pageblock, a block or a batch of a list at a time. Pageblocks that
    /// begin or end without memory are left alone. `cpu` is the one it runs on; nothing happens for an absent one. A thread that owns a [`crate::Exclusive`] must not call
    /// it, because it takes the locks of the CPUs' lists.
    ///
    /// With [`crate::Switches::retypes_pageblocks`] a movable pageblock becomes unmovable or reclaimable
    /// if at least seven eighths of its pages stay where they are. A pageblock of another type becomes
    /// movable if at most an eighth of its pages stay and at least a quarter are movable. With
    /// [`crate::Switches::unmixes_pageblocks`] the movable pages of a pageblock of another type, if they
    /// are at most an eighth of it, move to movable pageblocks. With
    /// [`crate::Switches::empties_pageblocks`] the pages of a movable pageblock without other pages, and
    /// at least an eighth free, move to the smallest free blocks in fuller pageblocks. If the CPUs' lists
    /// hold some of its pages, they are drained, at most once for each zone and call. The further switches of
    /// [`crate::Era::Linux7_3Tidying`] say how a kernel with Freehold's series `tidying` does it.
    ///
    /// Linux counterpart: none; `compact_node` empties pageblocks by their place in the zone.
    pub fn tidy_pageblocks<E: Relocate>(&self, node: u16, cpu: u16, pages: u64, embedder: &mut E) {
        if cpu >= self.cpus() {
            return;
        }
        let mut left = pages;
        for zone in self.zones_of(node, ZoneType::Device) {
            let done = zone.tidy(left, &mut Emptying { zone, cpu, embedder });
            self.events.pgmigrate_success.add(done.moved);
            left = left.saturating_sub(done.spent);
        }
    }
}

/// What is to be done about a pageblock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Chore {
    Nothing,
    Retype(Migratetype),
    /// Move its movable pages away, so many.
    Empty(u32),
    /// Move its pages away, after the CPUs' lists are drained.
    Drain,
}

impl<L: Locks> Zone<'_, L> {
    /// Tidies the zone until `most` pages were moved or every pageblock was passed.
    fn tidy<E: Relocate>(&self, most: u64, emptying: &mut Emptying<'_, '_, L, E>) -> Moves {
        let switches = self.switches;
        let mut done = Moves::default();
        if !(switches.retypes_pageblocks || switches.unmixes_pageblocks || switches.empties_pageblocks) {
            return done;
        }
        let blocks = self.blocks.len() as u32;
        let first = self.lock().state.tidied_to;
        let mut passed = 0;
        let mut is_drained = false;
        while passed < blocks && done.spent < most {
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
                Chore::Empty(movable) => done += emptying.empty(start, movable),
            }
            passed += 1;
        }
        self.lock().state.tidied_to = (first + passed) % blocks.max(1);
        if done.spent > 0 {
            emptying.finish();
        }
        done
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
        let switches = self.switches;
        let [unmovable, asked_movable, reclaimable] = used.allocated;
        let unmovable = unmovable + used.reserved;
        let movable = if switches.tidies_by_mobility { used.movable } else { asked_movable };
        match self.chore_of(own, unmovable + asked_movable + reclaimable - movable, movable) {
            Chore::Empty(_) if used.percpu > 0 && own == Migratetype::Movable => Chore::Drain,
            Chore::Retype(Migratetype::Unmovable)
                if reclaimable > unmovable && !switches.retypes_to_unmovable =>
            {
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
                Chore::Empty(movable)
            } else {
                Chore::Nothing
            };
        }
        let is_worth_it = movable > 0 || !switches.drains_beside_movable;
        let has_room = pages.saturating_sub(movable) >= few;
        if switches.retypes_pageblocks && stays >= pages - few {
            Chore::Retype(Migratetype::Unmovable)
        } else if switches.empties_pageblocks && stays == 0 && is_worth_it && has_room {
            Chore::Empty(movable)
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
}
