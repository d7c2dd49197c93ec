//! Requests that may wait: reclaim and compaction between one attempt and the next.

use crate::compact::{CompactPriority, CompactResult, Relocate, gfp_allows_compaction};
use crate::memory::{MAX_RECLAIM_RETRIES, Memory, count};
use crate::reclaim::Shrinker;
use crate::table::FrameIndex;
use crate::table::sync::Locks;
use crate::types::{AllocError, AllocFlags, GfpFlags, Migratetype, Order, Pfn, Request};
use crate::zone::{Admission, Mark, Zone};

/// Compactions that seemed to help at most, before priority is raised.
///
/// Linux counterpart: `MAX_COMPACT_RETRIES`.
const MAX_COMPACT_RETRIES: u32 = 16;

/// Rounds of reclaim and compaction at most. Linux goes on for as long as there is progress.
const MOST_ROUNDS: u32 = 256;

type Found<'m, L> = Option<(&'m Zone<'m, L>, FrameIndex)>;

/// One request on its way through the slow path.
struct SlowPath<'p, 'm, L: Locks, E> {
    memory: &'p Memory<'m, L>,
    request: Request,
    embedder: &'p mut E,
    flags: AllocFlags,
    priority: CompactPriority,
    /// What the last compaction came to.
    compacted: CompactResult,
    compactions: u32,
    fruitless: u32,
}

/// What is to be done after a round without a block.
enum Next {
    Again,
    GiveUp,
}

impl<'m, L: Locks> Memory<'m, L> {
    /// Answers a request as [`Memory::alloc`] does, but one that may wait reclaims and compacts
    /// through the embedder before it is refused.
    ///
    /// Rounds are bounded, and nobody is killed: where Linux goes on, or starts the
    /// out-of-memory killer, the request is refused.
    /// Linux counterpart: `__alloc_pages`, `__alloc_pages_slowpath`.
    ///
    /// # Errors
    /// See [`AllocError`].
    #[inline]
    pub fn alloc_with<E: Shrinker<L> + Relocate>(
        &self,
        request: Request,
        embedder: &mut E,
    ) -> Result<Pfn, AllocError> {
        match self.alloc_at_hand(request) {
            Some(pfn) => Ok(pfn),
            None => self.alloc_patiently(request, embedder),
        }
    }

    #[cold]
    fn alloc_patiently<E: Shrinker<L> + Relocate>(
        &self,
        request: Request,
        embedder: &mut E,
    ) -> Result<Pfn, AllocError> {
        if !request.gfp.contains(GfpFlags::DIRECT_RECLAIM) {
            return self.alloc(request);
        }
        let cpu = self.requests.get(usize::from(request.cpu)).ok_or(AllocError::NoSuchCpu)?;
        if request.order > self.max_order {
            return Err(AllocError::OrderTooLarge);
        }
        if let Some(pfn) = self.alloc_at_once(request, cpu) {
            return Ok(pfn);
        }
        let preferred = self.zonelist(&request).next();
        let flags = preferred.map_or(AllocFlags::fast(request.gfp), |zone| zone.first_flags(request));
        let mut found = self.try_zones(&request, Mark::Low, flags);
        if found.is_none() {
            count(&cpu.slow_paths);
            found = self.try_patiently(request, embedder);
        }
        let Some((zone, index)) = found else {
            cpu.refused(request.order);
            return Err(AllocError::NoMemory);
        };
        Ok(zone.hand_out(index, request, cpu))
    }

    fn try_patiently<E: Shrinker<L> + Relocate>(&self, request: Request, embedder: &mut E) -> Found<'m, L> {
        let mut flags = AllocFlags::slow(request.gfp, request.order, self.switches);
        flags.set(AllocFlags::NOFRAGMENT, self.tunables.defrag_mode());
        SlowPath {
            memory: self,
            request,
            embedder,
            flags,
            priority: CompactPriority::SyncLight,
            compacted: CompactResult::Skipped,
            compactions: 0,
            fruitless: 0,
        }
        .run()
    }
}

impl<'m, L: Locks, E: Shrinker<L> + Relocate> SlowPath<'_, 'm, L, E> {
    /// Linux counterpart: `__alloc_pages_slowpath`.
    fn run(&mut self) -> Found<'m, L> {
        let gfp = self.request.gfp;
        self.wake_kswapd();
        let found = self.look();
        if found.is_some() {
            return found;
        }
        let all_reserves = gfp.contains(GfpFlags::MEMALLOC) && !gfp.contains(GfpFlags::NOMEMALLOC);
        if !all_reserves && self.compacts_first() {
            let found = self.compact(CompactPriority::Async);
            if found.is_some() || self.leaves_it_at_that() {
                return found;
            }
        }
        if all_reserves {
            self.flags = self.flags & (AllocFlags::CMA | AllocFlags::KSWAPD) | AllocFlags::NO_WATERMARKS;
        }
        for round in 0..MOST_ROUNDS {
            if round > 0 {
                self.wake_kswapd();
            }
            if round > 0 || all_reserves || !self.memory.switches.retries_with_new_rights {
                let found = self.look();
                if found.is_some() {
                    return found;
                }
            }
            match self.round() {
                Ok(found) => return Some(found),
                Err(Next::Again) => {}
                Err(Next::GiveUp) => break,
            }
        }
        if !gfp.contains(GfpFlags::NOFAIL) {
            return None;
        }
        let found = self.memory.try_zones(&self.request, Mark::Min, AllocFlags::MIN_RESERVE);
        found.or_else(|| self.memory.try_zones(&self.request, Mark::Min, AllocFlags::NO_WATERMARKS))
    }

    /// Reclaims, compacts, and decides whether that is worth doing again.
    fn round(&mut self) -> Result<(&'m Zone<'m, L>, FrameIndex), Next> {
        let (gfp, costly) = (self.request.gfp, self.request.order > Order::COSTLY);
        let progress = self.memory.reclaim_directly(&self.request, self.embedder);
        if progress && let Some(found) = self.look_and_drain() {
            return Ok(found);
        }
        if let Some(found) = self.compact(self.priority) {
            return Ok(found);
        }
        let can_compact = gfp_allows_compaction(gfp);
        let ends = gfp.contains(GfpFlags::NORETRY)
            || costly && !(can_compact && gfp.contains(GfpFlags::RETRY_MAYFAIL));
        if !ends
            && (self.should_reclaim_again(progress) || progress && can_compact && self.should_compact_again())
        {
            return Err(Next::Again);
        }
        if self.flags.contains(AllocFlags::NOFRAGMENT) {
            // Better mixed than refused.
            self.flags.remove(AllocFlags::NOFRAGMENT);
            return self.look().ok_or(Next::Again);
        }
        Err(Next::GiveUp)
    }

    fn wake_kswapd(&self) {
        if self.flags.contains(AllocFlags::KSWAPD) {
            self.memory.wake_kswapd(&self.request);
        }
    }

    fn look(&self) -> Found<'m, L> {
        self.memory.try_zones(&self.request, Mark::Min, self.flags)
    }

    /// Linux counterpart: the end of `__alloc_pages_direct_reclaim`.
    fn look_and_drain(&self) -> Found<'m, L> {
        self.look().or_else(|| {
            self.memory.unreserve_highatomic(&self.request, false);
            self.memory.drain_all();
            self.look()
        })
    }

    /// Whether compaction comes before reclaim: there are pages enough, or types should not mix.
    fn compacts_first(&self) -> bool {
        let Request { order, gfp, .. } = self.request;
        gfp_allows_compaction(gfp)
            && (order > Order::COSTLY || (order > Order::ZERO && gfp.migratetype() != Migratetype::Movable))
    }

    /// Whether a large block that is only nice to have is given up after the first compaction.
    fn leaves_it_at_that(&mut self) -> bool {
        let Request { order, gfp, .. } = self.request;
        if order <= Order::COSTLY || !gfp.contains(GfpFlags::NORETRY) {
            return false;
        }
        self.priority = CompactPriority::Async;
        matches!(self.compacted, CompactResult::Skipped | CompactResult::Deferred)
            || gfp.contains(GfpFlags::THISNODE)
    }

    /// Linux counterpart: `__alloc_pages_direct_compact`.
    fn compact(&mut self, priority: CompactPriority) -> Found<'m, L> {
        let order = self.request.order;
        if order == Order::ZERO {
            return None;
        }
        let captured = self.compact_zones(priority);
        if self.compacted == CompactResult::Skipped {
            return None;
        }
        let events = &self.memory.events;
        events.compact_stall.add(1);
        let found = captured.or_else(|| self.look());
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
    fn compact_zones(&mut self, priority: CompactPriority) -> Found<'m, L> {
        self.compacted = CompactResult::Skipped;
        let Request { order, gfp, .. } = self.request;
        if !gfp_allows_compaction(gfp) {
            return None;
        }
        let target = self.memory.direct_target(&self.request, self.flags, priority);
        for zone in self.memory.zonelist(&self.request) {
            let may_be_deferred = priority > CompactPriority::SyncFull;
            if may_be_deferred && zone.lock().state.compaction.is_deferred(order) {
                self.compacted = self.compacted.max(CompactResult::Deferred);
                continue;
            }
            let (result, work) = zone.compact(&target, self.embedder);
            self.memory.count_work(&work);
            self.compacted = self.compacted.max(result);
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
        self.fruitless = if progress && order <= Order::COSTLY { 0 } else { self.fruitless + 1 };
        let admission = self.admission(order);
        let memory = self.memory;
        let hopeful = self.fruitless <= MAX_RECLAIM_RETRIES
            && memory.zonelist(&self.request).any(|zone| {
                let available = zone.free_pages() + self.embedder.reclaimable_pages(zone.node, zone.kind);
                zone.is_above_with(available, zone.mark(Mark::Min), admission)
            });
        hopeful || memory.unreserve_highatomic(&self.request, true)
    }

    fn admission(&self, order: Order) -> Admission {
        let highest_zone = self.request.gfp.highest_zone() as usize;
        Admission { order, mark: Mark::Min, highest_zone, flags: self.flags }
    }

    /// Linux counterpart: `should_compact_retry`.
    fn should_compact_again(&mut self) -> bool {
        let order = self.request.order;
        if order == Order::ZERO {
            return false;
        }
        if self.compacted == CompactResult::Skipped {
            // Too few pages to move to: worth it if reclaim can bring them.
            return self.could_have_room();
        }
        let costly = order > Order::COSTLY;
        if self.compacted == CompactResult::Success {
            self.compactions += 1;
            if self.compactions <= if costly { MAX_COMPACT_RETRIES / 4 } else { MAX_COMPACT_RETRIES } {
                return true;
            }
        }
        self.priority = match self.priority {
            CompactPriority::Async => CompactPriority::SyncLight,
            CompactPriority::SyncLight if !costly => CompactPriority::SyncFull,
            _ => return false,
        };
        self.compactions = 0;
        true
    }

    /// Linux counterpart: `compaction_zonelist_suitable`.
    fn could_have_room(&mut self) -> bool {
        let order = self.request.order;
        let highest_zone = self.request.gfp.highest_zone() as usize;
        let memory = self.memory;
        memory.zonelist(&self.request).any(|zone| {
            let reclaimable = self.embedder.reclaimable_pages(zone.node, zone.kind);
            let available = zone.free_pages() + reclaimable / u64::from(order.get().max(1));
            zone.has_room_to_compact(order, Mark::Min, highest_zone, available)
        })
    }
}
