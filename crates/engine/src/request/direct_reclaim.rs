//! The helper of the slow path that reclaims and compacts through the embedder.

use core::ops::ControlFlow;

use super::attempt::FoundBlock;
use super::slowpath::{Helped, Helper, SlowPath};
use crate::compact::{CompactPriority, CompactResult, Relocate, gfp_allows_compaction};
use crate::memory::MAX_RECLAIM_RETRIES;
use crate::reclaim::Shrinker;
use crate::types::{AllocFlags, GfpFlags, Migratetype, Order, Platform, Request};
use crate::zone::{Admission, Mark};

/// The number of compactions that may seem to help before the priority is raised.
///
/// Linux counterpart: `MAX_COMPACT_RETRIES`.
const MAX_COMPACT_RETRIES: u32 = 16;

/// A helper that reclaims through the embedder's [`Shrinker`], and compacts through its [`Relocate`].
pub(super) struct Embedder<'e, E> {
    /// The embedder.
    user: &'e mut E,
    priority: CompactPriority,
    /// The result of the last compaction.
    compacted: CompactResult,
    /// The number of compactions at this priority that seemed to help.
    compactions: u32,
    /// The number of consecutive rounds without progress.
    fruitless: u32,
}

impl<'e, E> Embedder<'e, E> {
    pub(super) fn new(user: &'e mut E) -> Self {
        Self {
            user,
            priority: CompactPriority::SyncLight,
            compacted: CompactResult::Skipped,
            compactions: 0,
            fruitless: 0,
        }
    }
}

impl<'m, P: Platform, E: Shrinker<P> + Relocate> Helper<'m, P> for Embedder<'_, E> {
    const MOST_ROUNDS: u32 = 256;
    const RETRY_WITHOUT_NOFRAGMENT: bool = false;
    const MAKES_ROOM: bool = true;

    fn help_first(path: &mut SlowPath<'_, 'm, P, Self>) -> ControlFlow<Option<FoundBlock<'m, P>>> {
        if !path.compacts_first() {
            return ControlFlow::Continue(());
        }
        let found = path.compact(CompactPriority::Async);
        if found.is_some() || path.gives_up_costly() {
            ControlFlow::Break(found)
        } else {
            ControlFlow::Continue(())
        }
    }

    /// Reclaims, compacts, and decides whether another round may help.
    fn help(path: &mut SlowPath<'_, 'm, P, Self>) -> Helped<'m, P> {
        let (gfp, costly) = (path.request.gfp, path.request.order > Order::COSTLY);
        let progress = path.memory.reclaim_directly(&path.request, path.helper.user);
        if progress && let Some(found) = path.attempt_then_drain() {
            return Helped::Found(found);
        }
        if let Some(found) = path.compact(path.helper.priority) {
            return Helped::Found(found);
        }
        let can_compact = gfp_allows_compaction(gfp);
        let ends = gfp.contains(GfpFlags::NORETRY)
            || costly && !(can_compact && gfp.contains(GfpFlags::RETRY_MAYFAIL));
        if !ends
            && (path.should_reclaim_again(progress) || progress && can_compact && path.should_compact_again())
        {
            return Helped::Again;
        }
        if path.flags.contains(AllocFlags::NOFRAGMENT) {
            // A block in another type's pageblock is better than none.
            path.flags.remove(AllocFlags::NOFRAGMENT);
            return path.attempt().map_or(Helped::Again, Helped::Found);
        }
        Helped::GivesUp
    }

    fn insist(path: &SlowPath<'_, 'm, P, Self>) -> Option<FoundBlock<'m, P>> {
        let found = path.memory.try_zones(&path.request, Mark::Min, AllocFlags::MIN_RESERVE);
        found.or_else(|| path.memory.try_zones(&path.request, Mark::Min, AllocFlags::NO_WATERMARKS))
    }
}

impl<'m, P: Platform, E: Shrinker<P> + Relocate> SlowPath<'_, 'm, P, Embedder<'_, E>> {
    /// Attempts the request, and once more after a drain of the reserve and the per-CPU lists.
    ///
    /// Linux counterpart: the end of `__alloc_pages_direct_reclaim`.
    fn attempt_then_drain(&self) -> Option<FoundBlock<'m, P>> {
        self.attempt().or_else(|| {
            self.unreserve_highatomic(false);
            self.memory.drain_for_request();
            self.attempt()
        })
    }

    /// Returns true if compaction comes before reclaim: for orders above 3, and for unmovable and reclaimable requests
    /// above order 0.
    fn compacts_first(&self) -> bool {
        let Request { order, gfp, .. } = self.request;
        gfp_allows_compaction(gfp)
            && (order > Order::COSTLY || (order > Order::ZERO && gfp.migratetype() != Migratetype::Movable))
    }

    /// Returns true if a request with `NORETRY` for an order above 3 fails after the first compaction.
    fn gives_up_costly(&mut self) -> bool {
        let Request { order, gfp, .. } = self.request;
        if order <= Order::COSTLY || !gfp.contains(GfpFlags::NORETRY) {
            return false;
        }
        self.helper.priority = CompactPriority::Async;
        matches!(self.helper.compacted, CompactResult::Skipped | CompactResult::Deferred)
            || gfp.contains(GfpFlags::THISNODE)
    }

    /// Linux counterpart: `__alloc_pages_direct_compact`.
    fn compact(&mut self, priority: CompactPriority) -> Option<FoundBlock<'m, P>> {
        let order = self.request.order;
        if order == Order::ZERO {
            return None;
        }
        let captured = self.compact_zones(priority);
        if self.helper.compacted == CompactResult::Skipped {
            return None;
        }
        let events = &self.memory.events;
        events.compact_stall.add(1);
        let found = captured.or_else(|| self.attempt());
        match found {
            Some((zone, _)) => {
                zone.note_compacted(order);
                events.compact_success.add(1);
            }
            None => events.compact_fail.add(1),
        }
        found
    }

    /// Linux counterpart: `try_to_compact_pages`.
    fn compact_zones(&mut self, priority: CompactPriority) -> Option<FoundBlock<'m, P>> {
        self.helper.compacted = CompactResult::Skipped;
        let Request { order, gfp, .. } = self.request;
        if !gfp_allows_compaction(gfp) {
            return None;
        }
        let target = self.memory.direct_target(&self.request, self.flags, priority);
        for zone in self.memory.zonelist(&self.request) {
            let may_be_deferred = priority > CompactPriority::SyncFull;
            if may_be_deferred && zone.lock().state.compaction.is_deferred(order) {
                self.helper.compacted = self.helper.compacted.max(CompactResult::Deferred);
                continue;
            }
            let (result, work) = zone.compact(&target, self.helper.user);
            self.memory.count_work(&work);
            self.helper.compacted = self.helper.compacted.max(result);
            if result == CompactResult::Success {
                zone.reset_deferral(order, false);
                return work.captured.map(|index| (zone, index));
            }
            let failed = matches!(result, CompactResult::Complete | CompactResult::PartialSkipped);
            if failed && priority != CompactPriority::Async {
                zone.lock().state.compaction.defer(order);
            }
        }
        None
    }

    /// Linux counterpart: `should_reclaim_retry`.
    fn should_reclaim_again(&mut self, progress: bool) -> bool {
        let order = self.request.order;
        let fruitless = if progress && order <= Order::COSTLY { 0 } else { self.helper.fruitless + 1 };
        self.helper.fruitless = fruitless;
        let highest_zone = self.request.gfp.highest_zone() as usize;
        let admission = Admission { order, mark: Mark::Min, highest_zone, flags: self.flags };
        let memory = self.memory;
        let hopeful = fruitless <= MAX_RECLAIM_RETRIES
            && memory.zonelist(&self.request).any(|zone| {
                let reclaimable = self.helper.user.reclaimable_pages(zone.node, zone.kind);
                let available = zone.free_pages() + reclaimable;
                zone.is_above_with(available, zone.mark(Mark::Min), admission)
            });
        hopeful || self.unreserve_highatomic(true)
    }

    /// Linux counterpart: `should_compact_retry`.
    fn should_compact_again(&mut self) -> bool {
        let order = self.request.order;
        if order == Order::ZERO {
            return false;
        }
        if self.helper.compacted == CompactResult::Skipped {
            // Too few free pages as targets: another round may help if reclaim can free them.
            return self.could_have_room();
        }
        let costly = order > Order::COSTLY;
        if self.helper.compacted == CompactResult::Success {
            self.helper.compactions += 1;
            let most = if costly { MAX_COMPACT_RETRIES / 4 } else { MAX_COMPACT_RETRIES };
            if self.helper.compactions <= most {
                return true;
            }
        }
        self.helper.priority = match self.helper.priority {
            CompactPriority::Async => CompactPriority::SyncLight,
            CompactPriority::SyncLight if !costly => CompactPriority::SyncFull,
            _ => return false,
        };
        self.helper.compactions = 0;
        true
    }

    /// Linux counterpart: `compaction_zonelist_suitable`.
    fn could_have_room(&mut self) -> bool {
        let order = self.request.order;
        let highest_zone = self.request.gfp.highest_zone() as usize;
        let memory = self.memory;
        memory.zonelist(&self.request).any(|zone| {
            let reclaimable = self.helper.user.reclaimable_pages(zone.node, zone.kind);
            let available = zone.free_pages() + reclaimable / u64::from(order.get().max(1));
            zone.has_room_to_compact(order, Mark::Min, highest_zone, available)
        })
    }
}
