//! Allocation: the fast path, one attempt above the low watermarks, and the slow path.

use super::reclaim::DirectReclaim;
use super::slowpath::{Helper, SlowPath};
use crate::memory::{CpuRequests, FirstZones, Memory};
use crate::types::{AllocError, AllocFlags, GfpFlags, Order, Pfn, Platform, Request};
use crate::zone::{Mark, Zone};

impl<'m, P: Platform> Memory<'m, P> {
    /// Allocates a block, and returns its first frame.
    ///
    /// `reclaim` says how a request with [`GfpFlags::DIRECT_RECLAIM`] makes room before it fails:
    ///
    /// - [`crate::NoReclaim`]: it drains the per-CPU lists and the reserve for atomic requests, and tries once more.
    /// - `&mut` an embedder: it also reclaims and compacts. The number of rounds is bounded, and no task is killed: where
    ///   Linux tries for ever or starts the out-of-memory killer, the request fails.
    ///
    /// A drain waits for the locks of the lists, but leaves out lists that have an owner ([`crate::Exclusive`]). If a
    /// request that may drain fails while there is an owner, the error is [`AllocError::Busy`]. Requests without [`GfpFlags::DIRECT_RECLAIM`] do not
    /// drain, and never wait for the lists.
    /// Linux counterpart: `__alloc_pages`, `__alloc_pages_slowpath`.
    ///
    /// # Errors
    /// See [`AllocError`].
    #[expect(clippy::inline_always, reason = "a call would cost a tenth of what it does")]
    #[inline(always)]
    pub fn alloc<R: DirectReclaim<P>>(&self, request: Request, reclaim: R) -> Result<Pfn, AllocError> {
        match self.alloc_fast(request) {
            Some(pfn) => Ok(pfn),
            None => reclaim.alloc_checked(self, request),
        }
    }

    /// Takes a block from the stack of a CPU's list. Returns `None` for an order above 3, if the zone is short of
    /// pages, if the stack is empty, and if another caller holds the lock of the lists.
    #[expect(clippy::inline_always, reason = "a call would cost as much as half of what it does")]
    #[inline(always)]
    fn alloc_fast(&self, request: Request) -> Option<Pfn> {
        let cpu = self.requests.get(usize::from(request.cpu))?;
        let zone = self.zones.get(self.first_zone(request)?)?;
        if request.order > Order::COSTLY || !zone.has_plenty(request.order) {
            return None;
        }
        let mut lists = zone.try_lock_lists(request.cpu)?;
        let index = lists.take_fast(request.gfp.migratetype(), request.order)?;
        drop(lists);
        Some(zone.hand_out(index, request, cpu))
    }

    #[cold]
    pub(super) fn alloc_checked<H: Helper<'m, P>>(
        &self,
        request: Request,
        helper: H,
    ) -> Result<Pfn, AllocError> {
        let cpu = self.requests.get(usize::from(request.cpu)).ok_or(AllocError::NoSuchCpu)?;
        if request.order > self.max_order {
            return Err(AllocError::OrderTooLarge);
        }
        let first_zones = self.first_zones.get(usize::from(request.node)).ok_or(AllocError::NoSuchNode)?;
        if let Some(pfn) = self.alloc_from_first_zone(first_zones, request, cpu) {
            return Ok(pfn);
        }
        if self.fails_without_blocks(&request, cpu, H::MAKES_ROOM, false) {
            return Err(AllocError::NoMemory);
        }
        let preferred = self.zonelist(&request).next();
        if self.switches.bypasses_lists_when_short
            && let Some(pfn) = self.alloc_in_bypass(&request, cpu)
        {
            return Ok(pfn);
        }
        let flags = preferred.map_or(AllocFlags::fast(request.gfp), |zone| zone.first_flags(request));
        let mut found = self.try_zones(&request, Mark::Low, flags);
        if found.is_none() {
            cpu.count_slow_path();
            found = SlowPath::new(self, request, helper).run();
        }
        let Some((zone, index)) = found else { return Err(self.refuse(&request, cpu)) };
        Ok(zone.hand_out(index, request, cpu))
    }

    /// Allocates a block from the free lists of the preferred zone while requests bypass its per-CPU lists.
    #[cold]
    #[inline(never)]
    fn alloc_in_bypass(&self, request: &Request, cpu: &CpuRequests) -> Option<Pfn> {
        let zone = self.zonelist(request).next().filter(|zone| zone.bypasses_lists())?;
        zone.alloc_beside_lists(*request, cpu)
    }

    /// Counts a request that failed on the slow path, and returns its error.
    #[cold]
    #[inline(never)]
    fn refuse(&self, request: &Request, cpu: &CpuRequests) -> AllocError {
        if self.may_bypass(request) {
            self.start_bypass(request);
        }
        cpu.count_failed(request.order, self.large_failures);
        let drains = request.gfp.contains(GfpFlags::DIRECT_RECLAIM);
        if drains && self.owners.has_any() { AllocError::Busy } else { AllocError::NoMemory }
    }

    /// Allocates a block from the first zone of a request if that zone has plenty. Returns `None` otherwise.
    fn alloc_from_first_zone(
        &self,
        first_zones: &FirstZones,
        request: Request,
        cpu: &CpuRequests,
    ) -> Option<Pfn> {
        let zone = self.zones.get(usize::from(first_zones[request.gfp.highest_zone() as usize]))?;
        zone.alloc_from_plenty(request, cpu, || zone.try_lock_lists(request.cpu))
    }

    /// Fails the request if no zone has a block for it and the slow path could not make one. Returns true if the
    /// request failed. `makes_room` is true if the slow path reclaims or compacts for a request that may wait, and
    /// `owns_lists` if the caller owns lists, which a bypass has to drain: the bypass then starts on the slow path.
    ///
    /// No watermark and no reserve can help such a request, so nothing is drained for it. The counters and flags of the
    /// zones change as on the slow path.
    pub(super) fn fails_without_blocks(
        &self,
        request: &Request,
        cpu: &CpuRequests,
        makes_room: bool,
        owns_lists: bool,
    ) -> bool {
        let (order, gfp) = (request.order, request.gfp);
        let mut insists = GfpFlags::NOFAIL | GfpFlags::MEMALLOC;
        if makes_room || !self.switches.drains_only_if_it_helps {
            insists |= GfpFlags::DIRECT_RECLAIM;
        }
        if order == Order::ZERO || order > self.max_order || gfp.intersects(insists) {
            return false;
        }
        let serves = Zone::serves(request);
        let may_answer =
            |zone: &Zone<'_, P>| zone.has_any_block(order) || self.drain_may_bring(zone, order, gfp);
        if self.zones.iter().filter(serves).any(may_answer)
            || self.may_bypass(request) && (owns_lists || self.start_bypass(request))
        {
            return false;
        }
        self.zones.iter().filter(serves).for_each(|zone| zone.note_failure(gfp));
        cpu.count_slow_path();
        cpu.count_failed(order, self.large_failures);
        true
    }
}
