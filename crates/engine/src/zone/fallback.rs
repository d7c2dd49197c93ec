//! Fallback: finds a block for a request if the lists of its own type have none.

use core::ops::ControlFlow;

use super::free_area::ListOp;
use super::guard::ZoneGuard;
use super::state::Zone;
use crate::table::FrameIndex;
use crate::types::{
    AllocContext, AllocFlags, ExtFrag, Migratetype, Order, PageblockUse, Platform, Tracepoints,
};

/// A free block of another type than the wanted one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Foreign {
    pub(crate) index: FrameIndex,
    pub(crate) order: Order,
    pub(crate) migratetype: Migratetype,
}

/// The result of a search of one order for a block of another type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Search {
    /// The first other type, in order of preference, that has a block.
    Found(Migratetype),
    /// No other type has a block of this order.
    Empty,
    /// A block of this order is too small for a claim of its pageblock.
    TooSmallToClaim,
}

impl Migratetype {
    /// Returns the types whose blocks a request may fall back to, best first.
    ///
    /// Linux counterpart: `fallbacks`.
    pub(crate) const fn fallbacks(self) -> [Self; 2] {
        match self {
            Self::Movable => [Self::Reclaimable, Self::Unmovable],
            Self::Reclaimable => [Self::Unmovable, Self::Movable],
            _ => [Self::Reclaimable, Self::Movable],
        }
    }

    /// Returns true if a request of this type may claim the pageblock of another type's block of order `found`.
    /// Unmovable and reclaimable requests may do so at any order, because their pages cannot be moved together later.
    /// Movable requests need at least half of a pageblock.
    ///
    /// Linux counterpart: `should_try_claim_block`.
    pub(super) fn may_claim(self, found: Order, pageblock_order: Order) -> bool {
        found.get() >= pageblock_order.get() / 2 || matches!(self, Self::Unmovable | Self::Reclaimable)
    }
}

impl<P: Platform> Zone<'_, P> {
    /// Returns true if a list of another type has a block of `order` whose pageblock a request of type `wanted` may
    /// claim.
    pub(crate) fn has_claimable_block(&self, order: Order, wanted: Migratetype) -> bool {
        wanted.may_claim(order, self.blocks.order())
            && wanted.fallbacks().into_iter().any(|foreign| self.list_has_block(order, foreign))
    }
}

impl<P: Platform> ZoneGuard<'_, '_, P> {
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

    /// Returns the smallest order of another type's block that this request may use: the order of a pageblock if types
    /// should not mix.
    pub(super) fn smallest_fallback(&self, context: AllocContext) -> Order {
        if context.flags.contains(AllocFlags::NOFRAGMENT) {
            context.order.max(self.zone.blocks.order())
        } else {
            context.order
        }
    }

    /// Claims a whole pageblock, and takes a block from it. Pageblocks with the largest free blocks are tried first.
    ///
    /// Linux counterpart: `__rmqueue_claim`.
    #[inline(never)]
    pub(super) fn claim(&mut self, context: AllocContext) -> Option<FrameIndex> {
        if !context.flags.contains(AllocFlags::NOFRAGMENT)
            && let ControlFlow::Break(taken) = self.claim_by_rule(context)
        {
            return taken;
        }
        for order in self.smallest_fallback(context).up_to(self.zone.max_order).rev() {
            match self.search(order, context.migratetype, true) {
                Search::Empty => {}
                Search::TooSmallToClaim => break,
                Search::Found(foreign) => {
                    let index = self.first(order, foreign)?;
                    if let Some(taken) = self.claim_block(index, order, foreign, context) {
                        self.state.stats.claims += 1;
                        self.trace_extfrag(taken, order, foreign, context);
                        return Some(taken);
                    }
                }
            }
        }
        None
    }

    /// Claims the pageblock around one free block, and takes a block from it. Returns `None` if too little of the
    /// pageblock suits the request.
    ///
    /// Linux counterpart: `try_to_claim_block`.
    pub(crate) fn claim_block(
        &mut self,
        index: FrameIndex,
        found: Order,
        foreign: Migratetype,
        context: AllocContext,
    ) -> Option<FrameIndex> {
        self.state.stats.claim_attempts += 1;
        if found >= self.zone.blocks.order() {
            self.update_list(index, found, ListOp::Leave);
            self.zone.blocks.set_range(index, found, context.migratetype);
            self.expand(index, context.order, found, context.migratetype);
            self.mark_taken(index, context.order, context.migratetype);
            return Some(index);
        }
        self.boost_watermark(context.flags);
        let start = self.whole_pageblock(index).ok()?;
        let used = self.pageblock_use(start);
        if !self.suits(used, foreign, context.migratetype) {
            return None;
        }
        self.convert_pageblock(start, context.migratetype);
        self.take_smallest(context.order, context.migratetype)
    }

    /// Returns true if at least half of a pageblock is free or has the mobility of the type `wanted`.
    pub(super) fn suits(&self, used: PageblockUse, foreign: Migratetype, wanted: Migratetype) -> bool {
        let pages = self.zone.blocks.pages();
        used.free + used.like_wanted(pages, foreign, wanted) >= pages / 2
    }

    /// Returns the use of a pageblock: from its counts or, if it keeps none, from a walk over its frames.
    fn pageblock_use(&mut self, start: FrameIndex) -> PageblockUse {
        let (used, read) = self.zone.use_around(start);
        self.touch(read);
        used
    }

    /// Takes one piece of the smallest sufficient block of another type.
    ///
    /// Linux counterpart: `__rmqueue_steal`.
    #[inline(never)]
    pub(super) fn steal(&mut self, context: AllocContext) -> Option<FrameIndex> {
        let Foreign { index, order, migratetype } = match self.chosen_to_steal(context) {
            ControlFlow::Continue(()) => self.smallest_foreign(context)?,
            ControlFlow::Break(chosen) => chosen?,
        };
        self.take(index, context.order, order, migratetype);
        if self.zone.switches.claims_by_counts {
            // The block may return to the free lists without an owner in between.
            self.mark_taken(index, context.order, context.migratetype);
        }
        self.state.stats.steals += 1;
        self.trace_extfrag(index, order, migratetype, context);
        Some(index)
    }

    /// Returns the smallest sufficient block of another type.
    fn smallest_foreign(&mut self, context: AllocContext) -> Option<Foreign> {
        let mut orders = context.order.up_to(self.zone.max_order);
        let (order, migratetype) = orders.find_map(|order| self.foreign_of(order, context))?;
        Some(Foreign { index: self.first(order, migratetype)?, order, migratetype })
    }

    /// Returns `order` and the first other type, in order of preference, that has a block of this order.
    pub(super) fn foreign_of(&mut self, order: Order, context: AllocContext) -> Option<(Order, Migratetype)> {
        match self.search(order, context.migratetype, false) {
            Search::Found(foreign) => Some((order, foreign)),
            Search::Empty | Search::TooSmallToClaim => None,
        }
    }

    pub(crate) fn trace_extfrag(
        &self,
        index: FrameIndex,
        found: Order,
        foreign: Migratetype,
        context: AllocContext,
    ) {
        self.zone.tracepoints.page_alloc_extfrag(ExtFrag {
            pfn: self.zone.frames.pfn(index),
            alloc_order: context.order,
            fallback_order: found,
            alloc_migratetype: context.migratetype,
            fallback_migratetype: foreign,
            change_ownership: self.zone.blocks.get(index) == context.migratetype,
        });
    }
}
