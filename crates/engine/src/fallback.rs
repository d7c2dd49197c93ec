//! Finding a block for a request whose own type has none.

use crate::frame::FrameIndex;
use crate::free_area::Passage;
use crate::pageblock::BlockUse;
use crate::placement::Foreign;
use crate::refill::Want;
use crate::sync::Locks;
use crate::tracepoints::{ExtFrag, Tracepoints};
use crate::zone::Zone;
use crate::zone_guard::ZoneGuard;
use crate::{AllocFlags, Migratetype, Order};

/// What a search of one order for a foreign block found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Search {
    /// The first foreign type, in order of preference, that has a block.
    Found(Migratetype),
    /// No foreign type has a block of this order.
    Empty,
    /// A block of this order is too small to claim its pageblock for.
    TooSmallToClaim,
}

impl Migratetype {
    /// The types whose blocks a request may fall back to, best first.
    ///
    /// Linux counterpart: `fallbacks`.
    pub(crate) const fn fallbacks(self) -> [Self; 2] {
        match self {
            Self::Movable => [Self::Reclaimable, Self::Unmovable],
            Self::Reclaimable => [Self::Unmovable, Self::Movable],
            _ => [Self::Reclaimable, Self::Movable],
        }
    }

    /// Unmovable and reclaimable pages scatter for good, movable ones do not, so the
    /// former take a whole pageblock at any size and the latter from half its order on.
    ///
    /// Linux counterpart: `should_try_claim_block`.
    fn may_claim(self, found: Order, pageblock_order: Order) -> bool {
        found.get() >= pageblock_order.get() / 2 || matches!(self, Self::Unmovable | Self::Reclaimable)
    }
}

impl<L: Locks> Zone<'_, L> {
    /// Whether a foreign list has a block of an order whose pageblock a request may claim.
    pub(crate) fn has_claimable_block(&self, order: Order, wanted: Migratetype) -> bool {
        wanted.may_claim(order, self.blocks.order())
            && wanted.fallbacks().into_iter().any(|foreign| self.list_has_block(order, foreign))
    }
}

impl<L: Locks> ZoneGuard<'_, '_, L> {
    /// Linux counterpart: `find_suitable_fallback`.
    fn search(&mut self, order: Order, wanted: Migratetype, to_claim: bool) -> Search {
        self.state.stats.fallback_searches += 1;
        if to_claim && !wanted.may_claim(order, self.zone.blocks.order()) {
            return Search::TooSmallToClaim;
        }
        wanted
            .fallbacks()
            .into_iter()
            .find(|&foreign| self.zone.list_has_block(order, foreign))
            .map_or(Search::Empty, Search::Found)
    }

    /// The smallest order at which a foreign block may be touched for this request.
    fn smallest_fallback(&self, want: Want) -> Order {
        if want.flags.contains(AllocFlags::NOFRAGMENT) {
            want.order.max(self.zone.blocks.order())
        } else {
            want.order
        }
    }

    /// Claims a whole pageblock, trying the largest free blocks first, and takes from it.
    ///
    /// Linux counterpart: `__rmqueue_claim`.
    pub(crate) fn claim(&mut self, want: Want) -> Option<FrameIndex> {
        if let Some(used) = self.used_to_claim(want)
            && let Some(taken) = self.claim_used(used, want)
        {
            return Some(taken);
        }
        for order in self.smallest_fallback(want).up_to(self.zone.max_order).rev() {
            match self.search(order, want.migratetype, true) {
                Search::Empty => {}
                Search::TooSmallToClaim => break,
                Search::Found(foreign) => {
                    let index = self.first(order, foreign)?;
                    if let Some(taken) = self.claim_block(index, order, foreign, want) {
                        self.state.stats.claims += 1;
                        self.trace_extfrag(taken, order, foreign, want);
                        return Some(taken);
                    }
                }
            }
        }
        None
    }

    /// Claims the pageblock around a free block, whatever else is in it.
    fn claim_used(&mut self, used: Foreign, want: Want) -> Option<FrameIndex> {
        self.state.stats.claim_attempts += 1;
        self.boost_watermark(want.flags);
        let start = self.whole_pageblock(used.index).ok()?;
        self.convert_pageblock(start, want.migratetype);
        let taken = self.take_smallest(want.order, want.migratetype)?;
        self.state.stats.claims += 1;
        self.trace_extfrag(taken, used.order, used.migratetype, want);
        Some(taken)
    }

    /// Claims the pageblock around one free block, if enough of it suits the request.
    ///
    /// Linux counterpart: `try_to_claim_block`.
    fn claim_block(
        &mut self,
        index: FrameIndex,
        found: Order,
        foreign: Migratetype,
        want: Want,
    ) -> Option<FrameIndex> {
        self.state.stats.claim_attempts += 1;
        if found >= self.zone.blocks.order() {
            self.pass(index, found, Passage::Leave);
            self.zone.blocks.set_range(index, found, want.migratetype);
            self.expand(index, want.order, found, want.migratetype);
            self.mark_taken(index, want.order, want.migratetype);
            return Some(index);
        }
        self.boost_watermark(want.flags);
        let start = self.whole_pageblock(index).ok()?;
        let used = self.pageblock_use(start);
        if !self.suits(used, foreign, want.migratetype) {
            return None;
        }
        self.convert_pageblock(start, want.migratetype);
        self.take_smallest(want.order, want.migratetype)
    }

    /// Whether at least half of a pageblock is free or of a use alike to the request's.
    fn suits(&self, used: BlockUse, foreign: Migratetype, wanted: Migratetype) -> bool {
        let pages = self.zone.blocks.pages();
        used.free + used.alike(pages, foreign, wanted) >= pages / 2
    }

    /// Finds out what a pageblock's pages are used for.
    fn pageblock_use(&mut self, start: FrameIndex) -> BlockUse {
        if let Some(used) = self.zone.blocks.counted_use(start) {
            return used;
        }
        let end = start.offset(self.zone.blocks.pages());
        let (used, visited) = self.zone.frames.uses(start, end);
        self.touch(visited);
        used
    }

    /// Takes one piece of a foreign block, the smallest that will do.
    ///
    /// Linux counterpart: `__rmqueue_steal`.
    pub(crate) fn steal(&mut self, want: Want) -> Option<FrameIndex> {
        let Foreign { index, order, migratetype } = self.smallest_foreign(want)?;
        self.take(index, want.order, order, migratetype);
        if self.zone.switches.claims_by_counts {
            // It may come back without ever having had an owner.
            self.mark_taken(index, want.order, want.migratetype);
        }
        self.state.stats.steals += 1;
        self.trace_extfrag(index, order, migratetype, want);
        Some(index)
    }

    /// The smallest foreign block that will do.
    fn smallest_foreign(&mut self, want: Want) -> Option<Foreign> {
        for order in want.order.up_to(self.zone.max_order) {
            if let Search::Found(migratetype) = self.search(order, want.migratetype, false) {
                let index = self.first(order, migratetype)?;
                return Some(Foreign { index, order, migratetype });
            }
        }
        None
    }

    /// Moves a foreign block to the native lists, with or without its pageblock.
    ///
    /// This is how the eras without hygiene fall back: the pageblock's free pages
    /// move first, and its type changes only if enough of them did, which leaves
    /// pages on lists that their pageblock's type does not match.
    /// Linux counterpart: `__rmqueue_fallback` before 6.10.
    pub(crate) fn move_to_native(&mut self, want: Want) -> bool {
        let smallest = self.smallest_fallback(want);
        let orders = smallest.up_to(self.zone.max_order);
        let mut found = None;
        for order in orders.clone().rev() {
            if let Search::Found(foreign) = self.search(order, want.migratetype, false) {
                found = Some((order, foreign));
                break;
            }
        }
        let Some((mut order, mut foreign)) = found else { return false };
        let mut whole_block = want.migratetype.may_claim(order, self.zone.blocks.order());
        if !whole_block && want.migratetype == Migratetype::Movable && order > want.order {
            for smaller in want.order.up_to(self.zone.max_order) {
                if let Search::Found(other) = self.search(smaller, want.migratetype, false) {
                    (order, foreign) = (smaller, other);
                    whole_block = want.migratetype.may_claim(order, self.zone.blocks.order());
                    break;
                }
            }
        }
        let Some(index) = self.first(order, foreign) else { return false };
        self.move_block_to_native(index, order, want, whole_block);
        self.trace_extfrag(index, order, foreign, want);
        true
    }

    fn trace_extfrag(&self, index: FrameIndex, found: Order, foreign: Migratetype, want: Want) {
        self.zone.tracepoints.page_alloc_extfrag(ExtFrag {
            pfn: self.zone.frames.pfn(index),
            alloc_order: want.order,
            fallback_order: found,
            alloc_migratetype: want.migratetype,
            fallback_migratetype: foreign,
            change_ownership: self.zone.blocks.get(index) == want.migratetype,
        });
    }

    /// Linux counterpart: `steal_suitable_fallback` before 6.10.
    fn move_block_to_native(&mut self, index: FrameIndex, found: Order, want: Want, whole_block: bool) {
        self.state.stats.claim_attempts += 1;
        let old = self.zone.blocks.get(index);
        if old == Migratetype::HighAtomic {
            return self.move_single(index, found, want);
        }
        if found >= self.zone.blocks.order() {
            self.zone.blocks.set_range(index, found, want.migratetype);
            self.state.stats.claims += 1;
            self.pass(index, found, Passage::Change(want.migratetype));
            return;
        }
        self.boost_watermark(want.flags);
        if !whole_block {
            return self.move_single(index, found, want);
        }
        let Some((start, end)) = self.clipped_pageblock(index) else {
            return self.move_single(index, found, want);
        };
        let (used, visited) = self.zone.frames.uses(start, end);
        self.touch(visited);
        self.move_free_blocks(start, end, want.migratetype);
        if self.suits(used, old, want.migratetype) {
            self.zone.blocks.set(index, want.migratetype);
            self.state.stats.claims += 1;
        } else {
            self.state.stats.steals += 1;
        }
    }

    fn move_single(&mut self, index: FrameIndex, found: Order, want: Want) {
        self.state.stats.steals += 1;
        self.pass(index, found, Passage::Change(want.migratetype));
    }
}

impl crate::frame::FrameTable<'_> {
    /// What the frames from `start` to before `end` are used for, and how many were looked at.
    fn uses(&self, start: FrameIndex, end: FrameIndex) -> (BlockUse, u64) {
        use crate::frame::FrameKind;
        let mut used = BlockUse::default();
        let mut visited = 0;
        let mut at = start;
        while at < end {
            visited += 1;
            let head = if at == start { self.block_head(at) } else { at };
            let word = self.word(head);
            let block_end = match word.kind() {
                FrameKind::Free | FrameKind::PerCpu | FrameKind::Allocated => {
                    head.offset(1 << word.order().get())
                }
                _ => at.offset(1),
            };
            let next = block_end.max(at.offset(1)).min(end);
            match word.kind() {
                FrameKind::Free => used.free += next.0 - at.0,
                FrameKind::Allocated if word.is_movable() => used.movable += next.0 - at.0,
                _ => {}
            }
            at = next;
        }
        (used, visited)
    }
}
