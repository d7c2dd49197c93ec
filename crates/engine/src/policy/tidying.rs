//! Tidying pageblocks: three rules that Linux does not have.
//!
//! Linux changes the type of a pageblock only for a request that found no block of its own type. It empties a pageblock
//! only for a request that waits for a large block. Here the embedder calls [`Memory::tidy_pageblocks`] from time to
//! time, which applies three rules:
//!
//! - A pageblock gets the type of the immovable pages in it, so that pages of that type gather in the same pageblocks.
//! - If a pageblock of another type has only a few movable pages, these move out.
//! - The pages of a pageblock with only movable pages move to fuller pageblocks. That makes some pageblocks free and
//!   others full.
//!
//! Each pageblock keeps two counts. They select the pageblocks whose frames are then read one by one.

use super::claims::OwnRules;
use super::emptying::{Emptying, Moves};
use crate::compact::Relocate;
use crate::memory::Memory;
use crate::table::{FrameIndex, FrameKind};
use crate::types::{Chore, Migratetype, PageblockUse, PlacementRule, Platform, ZoneType};
use crate::zone::Zone;

/// "Few pages" of a pageblock means: at most its pages divided by this number.
const FEW: u32 = 8;

impl<P: Platform> Memory<'_, P> {
    /// Tidies a node's pageblocks until about `pages` pages have moved or every pageblock was visited once.
    ///
    /// The call continues where the last one stopped. An embedder makes it from time to time, as Linux wakes kcompactd.
    /// `cpu` is the CPU that runs the caller; for an absent CPU nothing happens. The zone lock is held for one
    /// pageblock, one block or one batch of a list at a time. Pageblocks that begin or end without memory are skipped.
    /// A thread that owns a [`crate::Exclusive`] must not call this function, because it takes the locks of the CPUs'
    /// lists.
    ///
    /// The switches select the rules:
    ///
    /// - [`crate::Switches::retypes_pageblocks`]: a movable pageblock becomes unmovable or reclaimable if at least
    ///   seven eighths of its pages are immovable. A pageblock of another type becomes movable if at most an eighth of
    ///   its pages are immovable and at least a quarter are movable.
    /// - [`crate::Switches::unmixes_pageblocks`]: if the movable pages of a pageblock of another type are at most an
    ///   eighth of it, they move to movable pageblocks.
    /// - [`crate::Switches::empties_pageblocks`]: if a movable pageblock has only movable pages, and at least an eighth
    ///   of it is free, its pages move to the smallest free blocks in fuller pageblocks. If some of its pages are on
    ///   CPUs' lists, the lists are drained, at most once for each zone and call.
    /// - The further switches of [`crate::Era::Linux7_3Tidying`] follow a kernel with Freehold's series `tidying`.
    ///
    /// If the memory has a placement rule that tidies ([`PlacementRule::tidies`]), that rule decides first.
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

/// The task of tidying for one pageblock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Task {
    Nothing,
    Retype(Migratetype),
    /// Move this number of movable pages away.
    Empty(u32),
    /// Move its pages away, after the CPUs' lists are drained.
    Drain,
    /// Nothing: the rule chose a type that a pageblock cannot have.
    Refused,
}

/// The origin of a task: the memory's placement rule, or the era.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum By {
    Rule,
    Era,
}

impl<P: Platform> Zone<'_, P> {
    /// Tidies the zone until `most` pages have moved or every pageblock was visited.
    fn tidy<E: Relocate>(&self, most: u64, emptying: &mut Emptying<'_, '_, P, E>) -> Moves {
        let mut done = Moves::default();
        if !OwnRules(self.switches).tidies() && !self.is_tidied_by_rule() {
            return done;
        }
        let blocks = self.blocks.len() as u32;
        let first = self.lock().state.tidied_to;
        let mut passed = 0;
        let mut is_drained = false;
        while passed < blocks && done.spent < most {
            let start = FrameIndex(((first + passed) % blocks) << self.blocks.order().get());
            let (mut task, mut by) = self.task(start);
            if task == Task::Drain && !is_drained {
                self.drain_all();
                is_drained = true;
                (task, by) = self.task(start);
            }
            match task {
                Task::Nothing | Task::Drain => {}
                Task::Retype(to) => self.retype(start, to, by),
                Task::Empty(movable) => done += emptying.empty(start, movable),
                Task::Refused => self.refuse(self.frames.pfn(start)),
            }
            passed += 1;
        }
        self.lock().state.tidied_to = (first + passed) % blocks.max(1);
        if done.spent > 0 {
            emptying.finish();
        }
        done
    }

    /// Returns the task for the pageblock at `start`. Approximate while other callers allocate.
    fn task(&self, start: FrameIndex) -> (Task, By) {
        if !self.can_be_tidied(start) {
            return (Task::Nothing, By::Era);
        }
        match self.task_by_rule(start) {
            Some(task) => (task, By::Rule),
            None => (self.task_by_era(start), By::Era),
        }
    }

    /// Returns true if the pageblock at `start` lies completely in the zone, has a type that may change, and is not one
    /// block.
    fn can_be_tidied(&self, start: FrameIndex) -> bool {
        let end = start.offset(self.blocks.pages());
        let inside = start >= self.frames.start() && end <= self.frames.end();
        if !inside || !self.blocks.get(start).is_mergeable() || self.has_hole(start, end) {
            return false;
        }
        // A pageblock that is one block needs no tidying.
        let head = self.frames.word(self.frames.block_head(start));
        let is_block = matches!(head.kind(), FrameKind::Free | FrameKind::Allocated);
        !is_block || head.order() < self.blocks.order()
    }

    #[inline]
    fn is_tidied_by_rule(&self) -> bool {
        self.rule.tidies() && !self.is_before_hygiene()
    }

    /// Returns the task that the memory's rule chooses for a pageblock, or `None` if the rule leaves it to the era.
    #[inline]
    fn task_by_rule(&self, start: FrameIndex) -> Option<Task> {
        if !self.is_tidied_by_rule() {
            return None;
        }
        let used = self.pageblock_use_between(start, start.offset(self.blocks.pages()));
        let own = self.blocks.get(start);
        match self.rule.chore(&used, self.blocks.pages()) {
            Chore::AsEra => None,
            Chore::Nothing => Some(Task::Nothing),
            Chore::Retype(to) if to == own => Some(Task::Nothing),
            Chore::Retype(to) => Some(if to.is_mergeable() { Task::Retype(to) } else { Task::Refused }),
            Chore::Empty => Some(Self::emptied(own, &used, OwnRules(self.switches).movable(&used))),
        }
    }

    fn task_by_era(&self, start: FrameIndex) -> Task {
        let Some(counted) = self.blocks.counted_use(start) else { return Task::Nothing };
        let (pages, own, rules) = (self.blocks.pages(), self.blocks.get(start), OwnRules(self.switches));
        let immovable = pages.saturating_sub(counted.free + counted.movable);
        if rules.chore_of(own, pages, immovable, counted.movable) == Chore::Nothing {
            return Task::Nothing;
        }
        // A walk over the frames distinguishes more kinds of pages.
        let used = self.pageblock_use_between(start, start.offset(pages));
        match rules.chore(&used, pages) {
            Chore::Empty => Self::emptied(own, &used, rules.movable(&used)),
            Chore::Retype(to) => Task::Retype(to),
            Chore::AsEra | Chore::Nothing => Task::Nothing,
        }
    }

    fn emptied(own: Migratetype, used: &PageblockUse, movable: u32) -> Task {
        if used.percpu > 0 && own == Migratetype::Movable { Task::Drain } else { Task::Empty(movable) }
    }

    /// Returns true if a pageblock begins or ends without memory, so that its counts do not describe all of it.
    fn has_hole(&self, start: FrameIndex, end: FrameIndex) -> bool {
        let is_absent = |index| self.frames.word(index).kind() == FrameKind::Absent;
        is_absent(start) || is_absent(FrameIndex(end.0 - 1))
    }

    fn retype(&self, start: FrameIndex, to: Migratetype, by: By) {
        let mut guard = self.lock();
        // Meanwhile another caller may have isolated or reserved the pageblock, or it may have become part of a free
        // block larger than a pageblock.
        let holds = by == By::Rule || self.task_by_era(start) == Task::Retype(to);
        if self.can_be_tidied(start) && holds {
            guard.convert_pageblock(start, to);
            guard.state.stats.retyped += 1;
        }
    }
}

impl OwnRules {
    /// Returns the chore for a pageblock of `pages` pages whose frames were read.
    pub(crate) fn chore_in(&self, used: &PageblockUse, pages: u32) -> Chore {
        let [unmovable, requested_movable, reclaimable] = used.allocated;
        let unmovable = unmovable + used.reserved;
        let movable = self.movable(used);
        let own = used.migratetype.unwrap_or(Migratetype::Isolate);
        match self.chore_of(own, pages, unmovable + requested_movable + reclaimable - movable, movable) {
            Chore::Retype(Migratetype::Unmovable)
                if reclaimable > unmovable && !self.0.retypes_to_unmovable =>
            {
                Chore::Retype(Migratetype::Reclaimable)
            }
            chore => chore,
        }
    }

    fn movable(&self, used: &PageblockUse) -> u32 {
        if self.0.tidies_by_mobility { used.movable } else { used.allocated[Migratetype::Movable.index()] }
    }

    /// Returns the chore for a pageblock of type `own` with `immovable` pages that must stay and `movable` pages that
    /// can move.
    fn chore_of(&self, own: Migratetype, pages: u32, immovable: u32, movable: u32) -> Chore {
        let switches = self.0;
        let few = (pages / FEW).max(1);
        if own != Migratetype::Movable {
            return if switches.retypes_pageblocks && immovable <= few && movable >= pages / 4 {
                Chore::Retype(Migratetype::Movable)
            } else if switches.unmixes_pageblocks && (1..=few).contains(&movable) {
                Chore::Empty
            } else {
                Chore::Nothing
            };
        }
        let is_worth_it = movable > 0 || !switches.drains_beside_movable;
        let has_room = pages.saturating_sub(movable) >= few;
        if switches.retypes_pageblocks && immovable >= pages - few {
            Chore::Retype(Migratetype::Unmovable)
        } else if switches.empties_pageblocks && immovable == 0 && is_worth_it && has_room {
            Chore::Empty
        } else {
            Chore::Nothing
        }
    }
}
