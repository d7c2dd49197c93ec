//! Emptying a pageblock: its movable pages move to other pageblocks.

use core::cell::Cell;
use core::ops::AddAssign;

use super::claims::SCAN_LIMIT;
use crate::compact::Relocate;
use crate::table::{BlockList, FrameIndex, FrameKind, FrameWord, Place, Run};
use crate::types::{Migratetype, Order, Platform};
use crate::zone::{Insertion, Zone, ZoneGuard};

/// The zone whose pageblocks are emptied, the embedder that moves their pages, and the CPU that runs it.
pub(super) struct Emptying<'r, 'm, P: Platform, E> {
    pub(super) zone: &'r Zone<'m, P>,
    pub(super) cpu: u16,
    pub(super) embedder: &'r mut E,
}

/// The number of pages that moved, and the number charged to the budget.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moves {
    pub(super) moved: u64,
    pub(super) spent: u64,
}

impl AddAssign for Moves {
    fn add_assign(&mut self, other: Self) {
        self.moved += other.moved;
        self.spent += other.spent;
    }
}

impl<P: Platform, E: Relocate> Emptying<'_, '_, P, E> {
    /// Moves the `movable` pages of the pageblock at `start` to other pageblocks, as far as these have room.
    pub(super) fn empty(&mut self, start: FrameIndex, movable: u32) -> Moves {
        if self.zone.switches.empties_all_or_none {
            return self.move_together(start, movable);
        }
        let moved = self.move_one_by_one(start);
        Moves { moved, spent: moved }
    }

    /// Ends a pass in which pages moved.
    pub(super) fn finish(&mut self) {
        if self.zone.switches.empties_to_lists {
            self.zone.drain_cpu(self.cpu);
        }
    }

    /// Moves blocks from the first on, until one cannot be moved. Returns the number of pages moved.
    fn move_one_by_one(&mut self, start: FrameIndex) -> u64 {
        let zone = self.zone;
        let mut moved = 0;
        for (at, order) in zone.blocks_in_use(start) {
            if !self.embedder.is_movable(zone.frames.pfn(at), order) {
                continue;
            }
            let Some(to) = zone.take_place(at, order) else { break };
            if !self.move_to(at, to, order) {
                break;
            }
            moved += order.pages();
        }
        moved
    }

    /// Moves all movable blocks, the last one first. Moves none if they have fewer than `movable` pages together.
    /// Every block gets its place before the first one moves. A block larger than a page stays if no place is found.
    /// If a single page finds no place, that page and all blocks after it stay.
    ///
    /// Linux counterpart: `migrate_pages` after `isolate_migratepages_block`; it would split a larger block.
    fn move_together(&mut self, start: FrameIndex, movable: u32) -> Moves {
        let (zone, frames) = (self.zone, &self.zone.frames);
        // The embedder keeps these blocks from being freed meanwhile, so their links can be used for a list.
        let mut sources = BlockList::EMPTY;
        let mut had = 0;
        for (at, order) in zone.blocks_in_use(start) {
            if self.embedder.is_movable(frames.pfn(at), order) {
                sources.insert(frames, at, Place::Head);
                had += order.pages();
            }
        }
        if had < u64::from(movable) {
            return Moves::default();
        }
        let (mut leaving, mut places) = (BlockList::EMPTY, BlockList::EMPTY);
        while let Some(from) = sources.take_first(frames) {
            let order = frames.word(from).order();
            match zone.take_place(from, order) {
                Some(to) => {
                    leaving.insert(frames, from, Place::Tail);
                    places.insert(frames, to, Place::Tail);
                }
                None if order > Order::ZERO => {}
                None => break,
            }
        }
        let mut moved = 0;
        while let (Some(from), Some(to)) = (leaving.take_first(frames), places.take_first(frames)) {
            let order = frames.word(from).order();
            moved += if self.move_to(from, to, order) { order.pages() } else { 0 };
        }
        Moves { moved, spent: had }
    }

    /// Moves a block from `from` to the free block `to`, then frees the one that is now empty. Returns true if the
    /// block moved.
    fn move_to(&mut self, from: FrameIndex, to: FrameIndex, order: Order) -> bool {
        let zone = self.zone;
        let has_moved = zone.move_block(from, to, order, self.embedder);
        let left = if has_moved { from } else { to };
        if zone.switches.empties_to_lists {
            if !has_moved {
                zone.frames.hand_over(to, FrameWord::requested(order, Migratetype::Movable));
            }
            // Another caller may have freed the block meanwhile.
            let _ = zone.free_owned(self.cpu, left, order);
            return has_moved;
        }
        let mut guard = zone.lock();
        if !has_moved || zone.reclaim_ownership(from, order).is_ok() {
            let movable_pages = zone.frames.word(left).movable_pages();
            guard.free_block(left, order, zone.blocks.get(left), Insertion::ByMergeLikelihood);
            guard.count_returned(left, order, movable_pages);
        }
        has_moved
    }
}

impl<P: Platform> Zone<'_, P> {
    /// Returns the allocated blocks of the pageblock at `start` and their orders, from low to high addresses.
    fn blocks_in_use(&self, start: FrameIndex) -> impl Iterator<Item = (FrameIndex, Order)> + '_ {
        let end = start.offset(self.blocks.pages());
        let mut at = start;
        core::iter::from_fn(move || {
            while at < end {
                let (here, word) = (at, self.frames.word(at));
                let order = word.order();
                let is_block =
                    matches!(word.kind(), FrameKind::Free | FrameKind::PerCpu | FrameKind::Allocated);
                at = at.offset(if is_block { 1 << order.get() } else { 1 });
                if word.kind() == FrameKind::Allocated {
                    return Some((here, order));
                }
            }
            None
        })
    }

    /// Takes a free block of `order` as the new place of a block in the pageblock around `from`. Returns `None` if
    /// there is no suitable place.
    ///
    /// Linux counterpart: `take_fuller_page` of Freehold's series `tidying`.
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

impl<P: Platform> ZoneGuard<'_, '_, P> {
    /// Returns the smallest free movable block in a pageblock that has fewer free pages than the pageblock around
    /// `from`. If that pageblock is not movable, any pageblock will do. Only the heads of the free lists are scanned.
    fn fuller_place(&mut self, from: FrameIndex, order: Order) -> Option<(FrameIndex, Order)> {
        let blocks = &self.zone.blocks;
        let read = Cell::new(0);
        let free = |index| {
            let (used, walked) = self.zone.use_around(index);
            read.set(read.get() + walked);
            used.free
        };
        let is_movable = blocks.get(from) == Migratetype::Movable;
        let most = if is_movable { free(from) } else { blocks.pages() };
        let (mut scanned, mut place) = (0, None);
        for found in order.up_to(blocks.order().down()?) {
            let list = self.state.lists.get(found, Migratetype::Movable);
            let heads = list.iter(&self.zone.frames).take(SCAN_LIMIT).inspect(|_| scanned += 1);
            place = heads.into_iter().find(|&index| free(index) < most).map(|index| (index, found));
            if place.is_some() {
                break;
            }
        }
        self.touch(scanned + read.get());
        place
    }
}
