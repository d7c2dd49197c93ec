//! The decisions of compaction: whether a run is needed and may help, and when it ends.

use crate::memory::Tunables;
use crate::table::FrameIndex;
use crate::types::{AllocFlags, GfpFlags, Migratetype, Order, Platform};
use crate::zone::{Admission, Mark, Zone, ZoneGuard};

/// The result of compaction, from worst to best.
///
/// Linux counterpart: `enum compact_result`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum CompactResult {
    /// Too few pages are free as targets of migration, or the zone is not fragmented.
    Skipped,
    /// The run was deferred, because an earlier run failed.
    Deferred,
    /// The run goes on.
    Continue,
    /// The scanners met after they scanned the whole zone.
    Complete,
    /// The scanners met after they scanned a part of the zone.
    PartialSkipped,
    /// The free scanner found no target for a page.
    Contended,
    /// A block of the wanted order is free.
    Success,
}

/// The effort of compaction, from most to least.
///
/// Linux counterpart: `enum compact_priority`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum CompactPriority {
    /// Scans the whole zone, and ignores skip hints and pageblock types.
    SyncFull,
    SyncLight,
    /// Scans only pageblocks that are likely to help.
    Async,
}

/// The purpose of a run of compaction.
///
/// Linux counterpart: the constant half of `struct compact_control`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// The wanted order; `None` to compact as far as possible.
    pub(super) order: Option<Order>,
    pub(super) migratetype: Migratetype,
    pub(super) priority: CompactPriority,
    /// True for direct compaction: the request takes a block as soon as one has merged.
    pub(super) direct: bool,
    /// True for proactive compaction: the run ends below the score that [`Tunables::compaction_proactiveness`] sets.
    pub(super) proactive: bool,
    pub(super) highest_zone: usize,
    pub(super) flags: AllocFlags,
    pub(super) mark: Mark,
    pub(super) cpu: u16,
    pub(super) tunables: Tunables,
}

impl Target {
    /// Returns true if pageblocks with a skip hint are scanned as well.
    ///
    /// Linux counterpart: `ignore_skip_hint`.
    pub(super) fn ignores_hints(&self) -> bool {
        self.proactive || self.ignores_types()
    }

    /// Returns true if pages may move to pageblocks of any type.
    ///
    /// Linux counterpart: `ignore_block_suitable`.
    pub(super) fn ignores_types(&self) -> bool {
        self.priority == CompactPriority::SyncFull
    }

    /// Returns true if only free pages in whole pageblocks count towards the watermarks.
    fn counts_blocks(&self) -> bool {
        self.tunables.defrag_mode && !self.direct && !self.proactive
    }
}

/// Returns the number of free pages that compaction needs above the watermark: targets for the moved pages, and as many
/// pages again that are isolated meanwhile.
///
/// Units: pages. Linux counterpart: `compact_gap`.
pub(crate) const fn compact_gap(order: Order) -> u64 {
    2 * order.pages()
}

impl<P: Platform> Zone<'_, P> {
    /// Returns true if `available` free pages are enough as targets of migration.
    ///
    /// Linux counterpart: `__compaction_suitable`.
    pub(crate) fn has_room_to_compact(
        &self,
        order: Order,
        mark: Mark,
        highest_zone: usize,
        available: u64,
    ) -> bool {
        let costly =
            if order > Order::COSTLY { self.mark(Mark::Low).saturating_sub(self.mark(Mark::Min)) } else { 0 };
        let admission = Admission { order: Order::ZERO, mark, highest_zone, flags: AllocFlags::CMA };
        self.is_above_with(available, self.mark(mark) + compact_gap(order) + costly, admission)
    }

    /// Returns true if compaction may help: enough pages are free, and the zone is fragmented.
    ///
    /// Linux counterpart: `compaction_suitable`.
    pub(crate) fn may_compact(
        &self,
        order: Order,
        mark: Mark,
        highest_zone: usize,
        tunables: Tunables,
    ) -> bool {
        if !self.has_room_to_compact(order, mark, highest_zone, self.free_pages()) {
            return false;
        }
        if self.switches.suits_by_counts && self.switches.counts && self.target_pages(order) < order.pages() {
            return false;
        }
        if order <= Order::COSTLY {
            return true;
        }
        let index = self.counts_relaxed().extfrag_index(order);
        index < 0 || index > i64::from(tunables.extfrag_threshold)
    }

    /// Returns the number of free pages that the free scanner may isolate for a wanted order: pages of movable and CMA
    /// lists in blocks of smaller orders.
    fn target_pages(&self, order: Order) -> u64 {
        let counts = self.counts_relaxed().by_type;
        let movable = [Migratetype::Movable, Migratetype::Cma];
        let of_order =
            |size: usize| movable.iter().map(|kind| counts[size][kind.index()]).sum::<u64>() << size;
        (0..order.index()).map(of_order).sum()
    }

    /// Returns the number of free pages in blocks of a pageblock or more. Approximate while other callers allocate.
    ///
    /// Linux counterpart: `NR_FREE_PAGES_BLOCKS`, which does not count isolated pages.
    pub(crate) fn free_in_blocks(&self) -> u64 {
        self.counts_relaxed().pages_from(self.blocks.order().index())
    }

    /// Returns [`CompactResult::Continue`] if a run is needed and may help, [`CompactResult::Success`] if the zone is
    /// already above its watermark, and [`CompactResult::Skipped`] otherwise.
    ///
    /// Linux counterpart: `compaction_suit_allocation_order`.
    pub(super) fn suits_target(&self, target: &Target) -> CompactResult {
        let Some(order) = target.order.filter(|_| !target.proactive) else { return CompactResult::Continue };
        let Target { mark, highest_zone, flags, .. } = *target;
        let free = if target.counts_blocks() { self.free_in_blocks() } else { self.free_pages() };
        if self.is_above_with(free, self.mark(mark), Admission { order, mark, highest_zone, flags }) {
            return CompactResult::Success;
        }
        if self.may_compact(order, mark, highest_zone, target.tunables) {
            CompactResult::Continue
        } else {
            CompactResult::Skipped
        }
    }

    /// Returns true if a run has reached its target. The positions of the scanners do not count.
    ///
    /// Linux counterpart: `__compact_finished`.
    pub(super) fn has_reached(&self, target: &Target, migrate: FrameIndex) -> bool {
        if target.proactive {
            return self.fragmentation_score() <= target.tunables.low_fragmentation();
        }
        let Some(order) = target.order else { return false };
        // The run first finishes the pageblock, so that it becomes as free as possible.
        if !migrate.is_aligned(self.blocks.order()) {
            return false;
        }
        if target.counts_blocks() {
            let Target { mark, highest_zone, flags, .. } = *target;
            let admission = Admission { order, mark, highest_zone, flags };
            return self.is_above_with(self.free_in_blocks(), self.mark(Mark::High), admission);
        }
        let wanted = target.migratetype;
        let cma = (wanted == Migratetype::Movable).then_some(Migratetype::Cma);
        order.up_to(self.max_order).any(|order| {
            self.list_has_block(order, wanted)
                || cma.is_some_and(|cma| self.list_has_block(order, cma))
                || self.has_claimable_block(order, wanted)
        })
    }

    /// Returns the share of free memory in blocks smaller than a pageblock.
    ///
    /// Units: percent. Linux counterpart: `fragmentation_score_zone`.
    pub(super) fn fragmentation_score(&self) -> u64 {
        self.counts_relaxed().unusable_index(self.blocks.order()) / 10
    }

    /// Notes that compaction for an order may succeed. With `answered`, it gave a request its block.
    pub(crate) fn reset_deferral(&self, order: Order, answered: bool) {
        self.lock().state.compaction.reset_deferral(order, answered);
    }

    /// Clears the skip hints of all pageblocks if they are out of date.
    ///
    /// Linux counterpart: `__reset_isolation_suitable`.
    pub(crate) fn forget_hints(&self) {
        self.lock().forget_hints();
    }

    /// Notes that a request got its block from compaction.
    pub(crate) fn note_compacted(&self, order: Order) {
        let compaction = &mut self.lock().state.compaction;
        compaction.flush_hints = false;
        compaction.reset_deferral(order, true);
    }
}

impl Tunables {
    /// Returns the score below which proactive compaction ends. It begins at a score that is 10 higher.
    ///
    /// Units: percent. Linux counterpart: `fragmentation_score_wmark`.
    fn low_fragmentation(self) -> u64 {
        u64::from(100_u8.saturating_sub(self.compaction_proactiveness)).max(5)
    }

    pub(super) fn high_fragmentation(self) -> u64 {
        (self.low_fragmentation() + 10).min(100)
    }
}

impl<P: Platform> ZoneGuard<'_, '_, P> {
    /// Makes the next run start at the ends of the zone.
    ///
    /// Linux counterpart: `reset_cached_positions`.
    pub(super) fn reset_scanners(&mut self) {
        let zone = self.zone;
        let last = FrameIndex(zone.frames.end().0 - 1);
        let compaction = &mut self.state.compaction;
        compaction.migrate = [zone.frames.start(); 2];
        compaction.free = zone.blocks.start_of(last);
    }

    pub(super) fn forget_hints(&mut self) {
        if self.state.compaction.flush_hints {
            self.state.compaction.flush_hints = false;
            self.zone.blocks.clear_skips();
            self.reset_scanners();
        }
    }

    /// Makes the migrate scanner of the next run start behind the pageblock that begins at `at`.
    ///
    /// Linux counterpart: `update_cached_migrate`.
    pub(super) fn advance_migrate(&mut self, at: FrameIndex, target: &Target) {
        let to = self.zone.blocks.start_of(at).offset(self.zone.blocks.pages());
        let [asynchronous, synchronous] = &mut self.state.compaction.migrate;
        *asynchronous = to.max(*asynchronous);
        if target.priority != CompactPriority::Async {
            *synchronous = to.max(*synchronous);
        }
    }
}

/// Returns true if a request allows compaction. Linux counterpart: `gfp_compaction_allowed`.
pub(crate) const fn gfp_allows_compaction(gfp: GfpFlags) -> bool {
    gfp.contains(GfpFlags::IO)
}
