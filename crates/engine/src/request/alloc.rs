//! The way of a request: flags, zonelist, admission, per-CPU list or free list.

use crate::memory::{CpuRequests, Memory, count};
use crate::percpu::PerCpuLists;
use crate::table::sync::{Locks, Ordering};
use crate::table::{FrameIndex, FrameWord};
use crate::types::{AllocError, AllocFlags, GfpFlags, Migratetype, Order, Pfn, Request, Want};
use crate::zone::{Admission, Mark, Zone};

impl<'m, L: Locks> Memory<'m, L> {
    /// Answers a request with the first frame of a block.
    ///
    /// Nothing is reclaimed or compacted, which is for [`Memory::alloc_with`]: the per-CPU lists
    /// and the reserve for atomic requests are given up, and then the request fails.
    /// Linux counterpart: `__alloc_pages`.
    ///
    /// # Errors
    /// See [`AllocError`].
    #[inline]
    pub fn alloc(&self, request: Request) -> Result<Pfn, AllocError> {
        match self.alloc_at_hand(request) {
            Some(pfn) => Ok(pfn),
            None => self.alloc_with_a_look(request),
        }
    }

    /// Takes a block that lies at hand, if nothing can stand in the way.
    #[expect(clippy::inline_always, reason = "a call would cost as much as half of what it does")]
    #[inline(always)]
    pub(crate) fn alloc_at_hand(&self, request: Request) -> Option<Pfn> {
        let cpu = self.requests.get(usize::from(request.cpu))?;
        let zone = self.zones.get(self.first_zone(request)?)?;
        if request.order > Order::COSTLY || !zone.has_plenty(request.order) {
            return None;
        }
        let mut lists = zone.percpu.get(usize::from(request.cpu))?.try_lock()?;
        let index = lists.take_at_hand(request.gfp.migratetype(), request.order)?;
        drop(lists);
        Some(zone.hand_out(index, request, cpu))
    }

    #[cold]
    fn alloc_with_a_look(&self, request: Request) -> Result<Pfn, AllocError> {
        let cpu = self.requests.get(usize::from(request.cpu)).ok_or(AllocError::NoSuchCpu)?;
        if request.order > self.max_order {
            return Err(AllocError::OrderTooLarge);
        }
        if let Some(pfn) = self.alloc_at_once(request, cpu) {
            return Ok(pfn);
        }
        if self.refuses_at_once(&request, cpu) {
            return Err(AllocError::NoMemory);
        }
        let preferred = self.zonelist(&request).next();
        let flags = preferred.map_or(AllocFlags::fast(request.gfp), |zone| zone.first_flags(request));
        let mut found = self.try_zones(&request, Mark::Low, flags);
        if found.is_none() {
            count(&cpu.slow_paths);
            if request.gfp.contains(GfpFlags::KSWAPD_RECLAIM) {
                self.wake_kswapd(&request);
            }
            found = self.try_below_low(&request);
        }
        let Some((zone, index)) = found else {
            cpu.refused(request.order);
            return Err(AllocError::NoMemory);
        };
        Ok(zone.hand_out(index, request, cpu))
    }

    /// Refuses a request that no zone has a block for and that leaves it at that; whether it did.
    ///
    /// No mark and no right can help it, and nobody gives anything back for it. What the long
    /// way to the same answer would leave behind is left behind here.
    pub(crate) fn refuses_at_once(&self, request: &Request, cpu: &CpuRequests) -> bool {
        let (order, gfp) = (request.order, request.gfp);
        let insists = GfpFlags::DIRECT_RECLAIM | GfpFlags::NOFAIL | GfpFlags::MEMALLOC;
        if order == Order::ZERO || order > self.max_order || gfp.intersects(insists) {
            return false;
        }
        let highest = gfp.highest_zone();
        let only_node = gfp.contains(GfpFlags::THISNODE).then(|| self.first_node(request));
        let may_use =
            |zone: &&Zone<'_, L>| zone.kind <= highest && only_node.is_none_or(|node| zone.node == node);
        if self.zones.iter().filter(may_use).any(|zone| zone.has_any_block(order)) {
            return false;
        }
        self.zones.iter().filter(may_use).for_each(|zone| zone.note_refusal(gfp));
        count(&cpu.slow_paths);
        cpu.refused(order);
        true
    }

    /// Answers where nothing can stand in the way: the first zone has plenty.
    pub(crate) fn alloc_at_once(&self, request: Request, cpu: &CpuRequests) -> Option<Pfn> {
        let zone = &self.zones[self.first_zone(request)?];
        if !zone.has_plenty(request.order) {
            return None;
        }
        if !zone.has_percpu_list(request.order) {
            return zone.take_past_lists(request, cpu);
        }
        let mut lists = zone.percpu[usize::from(request.cpu)].try_lock()?;
        zone.take_by_list(&mut lists, request, cpu)
    }

    /// Linux counterpart: `__alloc_pages_slowpath` without reclaim and compaction.
    fn try_below_low(&self, request: &Request) -> Option<(&'m Zone<'m, L>, FrameIndex)> {
        let flags = AllocFlags::slow(request.gfp, request.order, self.switches);
        let unmixed = self.tunables.defrag_mode().then_some(flags | AllocFlags::NOFRAGMENT);
        let found = unmixed.and_then(|flags| self.try_below_low_with(request, flags));
        found.or_else(|| self.try_below_low_with(request, flags))
    }

    fn try_below_low_with(
        &self,
        request: &Request,
        mut flags: AllocFlags,
    ) -> Option<(&'m Zone<'m, L>, FrameIndex)> {
        let gfp = request.gfp;
        let found = self.try_zones(request, Mark::Min, flags);
        if found.is_some() {
            return found;
        }
        let all_reserves = gfp.contains(GfpFlags::MEMALLOC) && !gfp.contains(GfpFlags::NOMEMALLOC);
        if all_reserves {
            // This right takes the place of the others, that to the atomic reserve included.
            flags = flags & (AllocFlags::CMA | AllocFlags::KSWAPD) | AllocFlags::NO_WATERMARKS;
        }
        // Atomic requests may leave their cpuset now, which is a new right in Linux.
        let leaves_cpuset = gfp.contains(GfpFlags::HIGH) && !gfp.contains(GfpFlags::DIRECT_RECLAIM);
        if all_reserves || leaves_cpuset || !self.switches.retries_with_new_rights {
            let found = self.try_zones(request, Mark::Min, flags);
            if found.is_some() {
                return found;
            }
        }
        if !gfp.contains(GfpFlags::DIRECT_RECLAIM) {
            return None;
        }
        self.unreserve_highatomic(request, false);
        self.drain_all();
        let found = self.try_zones(request, Mark::Min, flags);
        if found.is_some() || gfp.contains(GfpFlags::NORETRY) {
            return found;
        }
        if self.unreserve_highatomic(request, true) {
            let found = self.try_zones(request, Mark::Min, flags);
            if found.is_some() {
                return found;
            }
        }
        if gfp.contains(GfpFlags::NOFAIL) {
            return self.try_zones(request, Mark::Min, AllocFlags::NO_WATERMARKS);
        }
        None
    }

    pub(crate) fn unreserve_highatomic(&self, request: &Request, force: bool) -> bool {
        let to = request.gfp.migratetype();
        self.zonelist(request).any(|zone| zone.unreserve_highatomic(to, force))
    }

    /// Linux counterpart: `get_page_from_freelist`.
    pub(crate) fn try_zones(
        &self,
        request: &Request,
        mark: Mark,
        flags: AllocFlags,
    ) -> Option<(&'m Zone<'m, L>, FrameIndex)> {
        let found = self.try_zones_once(request, mark, flags);
        if found.is_some() || !flags.contains(AllocFlags::NOFRAGMENT) || self.tunables.defrag_mode() {
            return found;
        }
        self.try_zones_once(request, mark, flags.difference(AllocFlags::NOFRAGMENT))
    }

    /// One pass over the zonelist. Also ends without a block where the wish not to
    /// mix block types would lead to another node: local memory matters more.
    fn try_zones_once(
        &self,
        request: &Request,
        mark: Mark,
        flags: AllocFlags,
    ) -> Option<(&'m Zone<'m, L>, FrameIndex)> {
        let order = request.order;
        let highest_zone = request.gfp.highest_zone() as usize;
        let want_type = request.gfp.migratetype();
        let preferred_node = self.zonelist(request).next()?.node;
        for zone in self.zonelist(request) {
            let stays_local = flags.contains(AllocFlags::NOFRAGMENT) && !self.tunables.defrag_mode();
            if stays_local && zone.node != preferred_node {
                return None;
            }
            let admission = Admission { order, mark, highest_zone, flags };
            if !zone.admits_and_marks(admission) && !flags.contains(AllocFlags::NO_WATERMARKS) {
                continue;
            }
            let want = Want { order, migratetype: want_type, flags };
            let taken = zone.take(request.cpu, want, mark);
            zone.wake_for_boost(flags, &self.requests[usize::from(request.cpu)]);
            if let Some(index) = taken {
                return Some((zone, index));
            }
        }
        None
    }
}

impl<L: Locks> Zone<'_, L> {
    /// Whether nothing can stand between a request and a block of this order.
    #[inline]
    pub(crate) fn has_plenty(&self, order: Order) -> bool {
        u32::from(order.get()) < self.shared.plenty.load(Ordering::Relaxed)
    }

    /// The flags of the first attempt of a request that is for this zone first.
    pub(crate) fn first_flags(&self, request: Request) -> AllocFlags {
        let mut flags = AllocFlags::fast(request.gfp);
        flags.set(AllocFlags::NOFRAGMENT, self.unmixed.is_wished());
        if self.switches.highatomic_first {
            flags |= AllocFlags::highatomic(request.gfp, request.order);
        }
        flags
    }

    /// What a request wants that has no rights or wishes beyond the ordinary.
    pub(crate) fn plain_want(&self, request: Request) -> Option<Want> {
        let flags = self.first_flags(request);
        let plain = !flags.intersects(AllocFlags::NOFRAGMENT | AllocFlags::HIGHATOMIC);
        plain.then(|| Want { order: request.order, migratetype: request.gfp.migratetype(), flags })
    }

    /// Answers a request of an order without per-CPU lists from a zone that has plenty.
    pub(crate) fn take_past_lists(&self, request: Request, cpu: &CpuRequests) -> Option<Pfn> {
        let want = self.plain_want(request)?;
        let index = self.lock().take_direct(want)?;
        self.wake_for_boost(want.flags, cpu);
        Some(self.hand_out(index, request, cpu))
    }

    /// Answers a request from lists that the caller holds, of a zone that has plenty.
    pub(crate) fn take_by_list(
        &self,
        lists: &mut PerCpuLists<'_>,
        request: Request,
        cpu: &CpuRequests,
    ) -> Option<Pfn> {
        let want = self.plain_want(request)?;
        lists.note_alloc();
        let index = self.take_from_lists(lists, want).or_else(|| self.lock().take_direct(want))?;
        self.wake_for_boost(want.flags, cpu);
        Some(self.hand_out(index, request, cpu))
    }

    /// Gives a block that was found to the caller of a request.
    #[inline]
    pub(crate) fn hand_out(&self, index: FrameIndex, request: Request, cpu: &CpuRequests) -> Pfn {
        let wanted = request.gfp.migratetype();
        let movable = wanted == Migratetype::Movable;
        self.frames.hand_over(index, FrameWord::allocated(request.order, wanted, movable));
        cpu.answered(request.order, 1);
        if self.blocks.is_of(index, wanted) {
            return self.frames.pfn(index);
        }
        self.note_elsewhere(index, movable, cpu)
    }

    /// The frame of a page that does not lie in a pageblock of the wanted type, which is noted.
    #[cold]
    pub(crate) fn note_elsewhere(&self, index: FrameIndex, movable: bool, cpu: &CpuRequests) -> Pfn {
        if !self.is_at_home(index, movable) {
            count(&cpu.type_mismatches);
        }
        self.frames.pfn(index)
    }

    /// Whether a page is where it may be although its pageblock has another type: movable
    /// ones in CMA pageblocks, any in the reserve for atomic requests.
    fn is_at_home(&self, index: FrameIndex, movable: bool) -> bool {
        match self.blocks.get(index) {
            Migratetype::Cma => movable,
            other => other == Migratetype::HighAtomic,
        }
    }

    /// Wakes kswapd if a fallback has raised the marks meanwhile.
    fn wake_for_boost(&self, flags: AllocFlags, cpu: &CpuRequests) {
        if flags.contains(AllocFlags::KSWAPD) && self.shared.boosted.load(Ordering::Relaxed) {
            self.shared.boosted.store(false, Ordering::Relaxed);
            count(&cpu.kswapd_wakes);
        }
    }

    /// Takes a block from a CPU's list or, failing that, from the free lists.
    ///
    /// Linux counterpart: `rmqueue`.
    fn take(&self, cpu: u16, want: Want, mark: Mark) -> Option<FrameIndex> {
        let from_list = self.has_percpu_list(want.order).then(|| self.take_percpu(cpu, want)).flatten();
        let reserves = want.flags.contains(AllocFlags::HIGHATOMIC);
        let (index, reserve) = if let Some(index) = from_list {
            (index, reserves && !self.switches.highatomic_first)
        } else {
            let index = self.lock().take_direct(want)?;
            (index, reserves && (!self.switches.highatomic_first || mark == Mark::Min))
        };
        if reserve {
            self.reserve_highatomic(index, want.order);
        }
        Some(index)
    }
}
