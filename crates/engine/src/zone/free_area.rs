//! The free lists, and the one function through which a block enters, leaves or changes lists.

use super::guard::ZoneGuard;
#[cfg(doc)]
use super::state::Zone;
use crate::table::sync::Ordering;
use crate::table::{FrameIndex, FrameKind, FrameWord, Place};
use crate::types::{Migratetype, Order, Platform};

/// An operation on the free lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ListOp {
    /// The block enters the list of a type, at one of its ends.
    Enter(Migratetype, Place),
    /// The block leaves its list.
    Leave,
    /// The block moves from its list to the tail of another type's list.
    Change(Migratetype),
}

impl<P: Platform> ZoneGuard<'_, '_, P> {
    /// Adds a block to a free list, removes it, or moves it to another. List, frame word, counts and numbers of free
    /// pages change together here, and nowhere else.
    ///
    /// Counts a block that enters the list of another type than its pageblock's, or leaves such a list, in every era.
    /// With hygiene no block does, and [`Zone::check`] fails if one did. Therefore a pageblock gets its new type before
    /// its free blocks change lists.
    ///
    /// Returns the type of the list that the block left. If it was on no list, returns the type of the list that it
    /// entered.
    #[expect(clippy::inline_always, reason = "each caller knows the operation: a third less code")]
    #[inline(always)]
    pub(crate) fn update_list(&mut self, index: FrameIndex, order: Order, op: ListOp) -> Migratetype {
        self.touch(1);
        match op {
            ListOp::Enter(migratetype, place) => {
                self.enter(index, order, migratetype, place);
                self.zone.blocks.count_entered(index, order);
                migratetype
            }
            ListOp::Leave => {
                let from = self.leave(index, order);
                if !self.zone.blocks.has_type(index, from) {
                    self.state.stats.foreign_leaves += 1;
                }
                self.zone.frames.frame(index).set_word(FrameWord::TAIL);
                self.zone.blocks.count_left(index, order);
                from
            }
            ListOp::Change(to) => {
                let from = self.leave(index, order);
                self.enter(index, order, to, Place::Tail);
                from
            }
        }
    }

    #[inline]
    fn enter(&mut self, index: FrameIndex, order: Order, migratetype: Migratetype, place: Place) {
        let zone = self.zone;
        debug_assert!(index.is_aligned(order));
        if !zone.blocks.has_type(index, migratetype) {
            self.state.stats.hygiene_violations += 1;
        }
        let frame = zone.frames.frame(index);
        frame.set_word(FrameWord::head(FrameKind::Free, order, migratetype));
        let list = self.state.lists.get_mut(order, migratetype);
        let was_empty = list.is_empty();
        list.insert(&zone.frames, index, place);
        if was_empty {
            self.note_occupied(order, migratetype, true);
        }
        zone.counts.add(order, migratetype);
        self.count_pages(order.pages() as i64, migratetype);
    }

    #[inline]
    fn leave(&mut self, index: FrameIndex, order: Order) -> Migratetype {
        let zone = self.zone;
        let frame = zone.frames.frame(index);
        let word = frame.word();
        debug_assert!(word.is_free_of(order), "the block is not on a free list of its order");
        let migratetype = word.migratetype();
        let list = self.state.lists.get_mut(order, migratetype);
        list.remove(&zone.frames, index);
        if list.is_empty() {
            self.note_occupied(order, migratetype, false);
        }
        zone.counts.remove(order, migratetype);
        self.count_pages(-(order.pages() as i64), migratetype);
        migratetype
    }

    /// Publishes whether a list has a block, for readers without the lock.
    fn note_occupied(&mut self, order: Order, migratetype: Migratetype, has_block: bool) {
        let occupied = &self.zone.shared.occupied[migratetype.index()];
        let bit = 1 << order.get();
        let bits = occupied.load(Ordering::Relaxed);
        occupied.store(if has_block { bits | bit } else { bits & !bit }, Ordering::Relaxed);
    }

    /// Changes the numbers of free pages by `pages` that enter a list. A negative number leaves it.
    #[inline]
    fn count_pages(&mut self, pages: i64, migratetype: Migratetype) {
        if !migratetype.is_mergeable() {
            self.count_reserved_pages(pages, migratetype);
        } else if !self.zone.is_before_hygiene() {
            self.state.free_pages = self.state.free_pages.wrapping_add_signed(pages);
        }
    }

    /// Changes the numbers of free pages as [`Self::count_pages`] does, for types that few pages have.
    #[cold]
    fn count_reserved_pages(&mut self, pages: i64, migratetype: Migratetype) {
        if migratetype == Migratetype::HighAtomic {
            self.state.free_highatomic = self.state.free_highatomic.wrapping_add_signed(pages);
        }
        self.account_at_door(pages, migratetype);
    }

    /// Changes the numbers of free pages by `pages` of a type.
    ///
    /// [`Self::update_list`] calls it, so that the numbers are the sums over the lists. Before hygiene see
    /// [`Self::account_before_hygiene`].
    /// Linux counterpart: `account_freepages`, before 6.10 `__mod_zone_freepage_state`.
    pub(super) fn account(&mut self, pages: i64, migratetype: Migratetype) {
        match migratetype {
            Migratetype::Isolate => return,
            Migratetype::Cma => self.state.free_cma = self.state.free_cma.wrapping_add_signed(pages),
            _ => {}
        }
        self.state.free_pages = self.state.free_pages.wrapping_add_signed(pages);
    }

    /// Returns the first block of a list, or `None` if it is empty.
    pub(crate) fn first(&self, order: Order, migratetype: Migratetype) -> Option<FrameIndex> {
        self.state.lists.get(order, migratetype).first()
    }
}
