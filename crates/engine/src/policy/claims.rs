//! Claims: the memory's rule or Freehold's own rule chooses blocks of other types for requests.

use core::cell::Cell;
use core::ops::ControlFlow;

use crate::table::sync::{AtomicU64, Ordering};
use crate::table::{FrameIndex, FrameKind};
use crate::types::{
    AllocContext, Chore, FallbackRequest, Migratetype, Offer, Offers, Order, PageblockUse, Pfn,
    PlacementChoice, PlacementRule, Platform, RefusedChoices, Switches,
};
use crate::zone::{Foreign, Zone, ZoneGuard};

/// The number of blocks that are scanned at the head of a list.
pub(crate) const SCAN_LIMIT: usize = 32;

/// A pageblock that already has pages of the request's mobility is claimed only if at least its pages divided by this
/// number are free.
const WORTH_CLAIMING: u32 = 8;

/// Freehold's own placement rule. The switches of the era turn on its parts.
///
/// Linux tries the pageblock of the first block of each list. The largest blocks come first, so Linux claims free
/// pageblocks before others. If none suits, it takes single pages anywhere. This rule scans many pageblocks by their
/// two counts, and claims pageblocks in use before free ones.
pub(crate) struct OwnRules(pub(crate) Switches);

impl PlacementRule for OwnRules {
    fn claim(&self, wanted: FallbackRequest, mut offers: Offers<'_>) -> PlacementChoice {
        let pages = 1_u32 << wanted.pageblock_order.get();
        let immovable = wanted.migratetype != Migratetype::Movable;
        let is_worth_it = |offer: &Offer| {
            let alike = offer.like(wanted.migratetype);
            let is_lost = immovable && alike > 0 && offer.free >= pages / WORTH_CLAIMING;
            is_lost || offer.free + alike >= pages / 2
        };
        offers.find(is_worth_it).map_or(PlacementChoice::AsEra, PlacementChoice::Take)
    }

    fn tidies(&self) -> bool {
        self.0.retypes_pageblocks || self.0.unmixes_pageblocks || self.0.empties_pageblocks
    }

    fn chore(&self, pageblock: &PageblockUse, pages: u32) -> Chore {
        self.chore_in(pageblock, pages)
    }
}

impl<P: Platform> Zone<'_, P> {
    /// Returns the block that a rule chose, or `None` if the block cannot have been offered: it must be a free block of
    /// another type that is large enough.
    fn foreign(&self, offer: Offer, context: AllocContext) -> Option<Foreign> {
        let index = self.frames.index(offer.pfn)?;
        let word = self.frames.word(index);
        let migratetype = self.blocks.get(index);
        let is_free = word.kind() == FrameKind::Free && word.order() == offer.order;
        let is_offered = is_free
            && offer.order >= context.order
            && migratetype == offer.migratetype
            && context.migratetype.fallbacks().contains(&migratetype);
        is_offered.then_some(Foreign { index, order: offer.order, migratetype })
    }

    /// Counts a refused choice of the rule.
    #[cold]
    pub(crate) fn refuse(&self, pfn: Pfn) {
        self.refused.fetch_add(1, Ordering::Relaxed);
        self.last_refused.store(pfn.0, Ordering::Relaxed);
    }

    /// Returns the refused choices of the rule. Takes no lock.
    pub(crate) fn refused(&self) -> RefusedChoices {
        let read = |number: &AtomicU64| number.load(Ordering::Relaxed);
        RefusedChoices { count: read(&self.refused), last: Pfn(read(&self.last_refused)) }
    }

    /// Returns the offer of a block to a rule, and the number of blocks and single frames that were read for it.
    fn offer(&self, Foreign { index, order, migratetype }: Foreign) -> (Offer, u64) {
        let pages = self.blocks.pages();
        let (used, read) = if order >= self.blocks.order() {
            (PageblockUse { free: pages, ..PageblockUse::default() }, 0)
        } else {
            self.use_around(index)
        };
        let PageblockUse { free, movable, .. } = used;
        let immovable = pages.saturating_sub(free + movable);
        (Offer { pfn: self.frames.pfn(index), order, migratetype, free, movable, immovable }, 1 + read)
    }
}

impl<P: Platform> ZoneGuard<'_, '_, P> {
    /// Claims the pageblock of the block that the memory's rule or Freehold's own rule chooses, and takes a block from
    /// it. Continues if the rules leave the choice to Linux's search.
    #[inline]
    pub(crate) fn claim_by_rule(&mut self, context: AllocContext) -> ControlFlow<Option<FrameIndex>> {
        let chosen = match self.chosen_to_claim(context) {
            ControlFlow::Continue(()) => self.used_to_claim(context),
            chosen @ ControlFlow::Break(_) => chosen,
        };
        let ControlFlow::Break(Some(block)) = chosen else { return chosen.map_break(|_| None) };
        self.claim_chosen(block, context)
            .map_or(ControlFlow::Continue(()), |taken| ControlFlow::Break(Some(taken)))
    }

    /// Lets the memory's rule choose the block whose pageblock a request claims.
    #[inline]
    fn chosen_to_claim(&mut self, context: AllocContext) -> ControlFlow<Option<Foreign>> {
        let (rule, wanted) = (self.zone.rule, self.wanted(context));
        let orders = context.order.up_to(self.zone.max_order).rev();
        // A pageblock that does not lie completely in the zone cannot be claimed, so it is not offered.
        let is_whole = |block: &Foreign| {
            block.order >= self.zone.blocks.order() || self.whole_pageblock(block.index).is_ok()
        };
        let (choice, touched) = self.ask(context, orders, is_whole, |offers| rule.claim(wanted, offers));
        self.touch(touched);
        self.chosen(choice, context)
    }

    /// Lets the memory's rule choose the block from which a request takes a piece.
    ///
    /// Continues if the rule leaves the choice to Linux's search.
    #[inline]
    pub(crate) fn chosen_to_steal(&mut self, context: AllocContext) -> ControlFlow<Option<Foreign>> {
        let (rule, wanted) = (self.zone.rule, self.wanted(context));
        let orders = context.order.up_to(self.zone.max_order);
        let (choice, touched) = self.ask(context, orders, |_| true, |offers| rule.steal(wanted, offers));
        self.touch(touched);
        self.chosen(choice, context)
    }

    /// Lets Freehold's own rule choose a free block in a pageblock that is partly in use and worth claiming.
    fn used_to_claim(&mut self, context: AllocContext) -> ControlFlow<Option<Foreign>> {
        if !self.zone.switches.claims_used_first {
            return ControlFlow::Continue(());
        }
        let Some(largest) = self.zone.blocks.order().down() else { return ControlFlow::Continue(()) };
        let (rules, wanted) = (OwnRules(self.zone.switches), self.wanted(context));
        let orders = context.order.up_to(largest).rev();
        let (choice, touched) = self.ask(context, orders, |_| true, |offers| rules.claim(wanted, offers));
        self.touch(touched);
        self.chosen(choice, context)
    }

    /// Claims the pageblock around a free block, and takes a block from it. The use of its other pages does not matter.
    fn claim_chosen(&mut self, used: Foreign, context: AllocContext) -> Option<FrameIndex> {
        if used.order >= self.zone.blocks.order() {
            let taken = self.claim_block(used.index, used.order, used.migratetype, context)?;
            self.state.stats.claims += 1;
            self.trace_extfrag(taken, used.order, used.migratetype, context);
            return Some(taken);
        }
        self.state.stats.claim_attempts += 1;
        self.boost_watermark(context.flags);
        let start = self.whole_pageblock(used.index).ok()?;
        self.convert_pageblock(start, context.migratetype);
        let taken = self.take_smallest(context.order, context.migratetype)?;
        self.state.stats.claims += 1;
        self.trace_extfrag(taken, used.order, used.migratetype, context);
        Some(taken)
    }

    fn wanted(&self, context: AllocContext) -> FallbackRequest {
        let pageblock_order = self.zone.blocks.order();
        FallbackRequest { order: context.order, migratetype: context.migratetype, pageblock_order }
    }

    /// Calls `choose` with offers from the heads of other types' lists, limited to blocks that `may_offer` accepts.
    /// Returns the choice, and the number of blocks and single frames that were read for the offers.
    #[inline]
    fn ask(
        &self,
        context: AllocContext,
        orders: impl Iterator<Item = Order>,
        may_offer: impl Fn(&Foreign) -> bool,
        choose: impl FnOnce(Offers<'_>) -> PlacementChoice,
    ) -> (PlacementChoice, u64) {
        let (zone, lists) = (self.zone, &self.state.lists);
        let touched = Cell::new(0);
        let mut offers = orders
            .flat_map(|order| context.migratetype.fallbacks().map(|migratetype| (order, migratetype)))
            .filter(|&(order, migratetype)| zone.list_has_block(order, migratetype))
            .flat_map(|(order, migratetype)| {
                let heads = lists.get(order, migratetype).iter(&zone.frames).take(SCAN_LIMIT);
                heads.map(move |index| Foreign { index, order, migratetype })
            })
            .filter(|block| may_offer(block))
            .map(|block| {
                let (offer, read) = zone.offer(block);
                touched.set(touched.get() + read);
                offer
            });
        let choice = choose(Offers::new(&mut offers));
        (choice, touched.get())
    }

    #[inline]
    fn chosen(&mut self, choice: PlacementChoice, context: AllocContext) -> ControlFlow<Option<Foreign>> {
        match choice {
            PlacementChoice::AsEra => ControlFlow::Continue(()),
            PlacementChoice::Nothing => ControlFlow::Break(None),
            PlacementChoice::Take(offer) => {
                let foreign = self.zone.foreign(offer, context);
                if foreign.is_none() {
                    self.zone.refuse(offer.pfn);
                }
                foreign.map_or(ControlFlow::Continue(()), |block| ControlFlow::Break(Some(block)))
            }
        }
    }
}
