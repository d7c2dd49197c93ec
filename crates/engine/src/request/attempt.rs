//! One attempt at a request: admission, zone by zone, and a block of the first that has one.

use core::ops::DerefMut;

use crate::memory::{CpuRequests, Memory};
use crate::percpu::PerCpuLists;
use crate::table::sync::{Locks, Ordering};
use crate::table::{FrameIndex, FrameWord};
use crate::types::{AllocFlags, Migratetype, Order, Pfn, Request, Want};
use crate::zone::{Admission, Mark, Zone};

/// A block that was found for a request, and the block's zone.
pub(super) type FoundBlock<'m, L> = (&'m Zone<'m, L>, FrameIndex);

impl<'m, L: Locks> Memory<'m, L> {
    /// Takes a block from the first zone of the zonelist that admits the request and has one. Goes through
    /// the list a second time without [`AllocFlags::NOFRAGMENT`], unless in defrag mode.
    ///
    /// Linux counterpart: `get_page_from_freelist`.
    pub(super) fn try_zones(
        &self,
        request: &Request,
        mark: Mark,
        flags: AllocFlags,
    ) -> Option<FoundBlock<'m, L>> {
        let found = self.try_zones_once(request, mark, flags);
        if found.is_some() || !flags.contains(AllocFlags::NOFRAGMENT) || self.tunables.defrag_mode() {
            return found;
        }
        self.try_zones_once(request, mark, flags.difference(AllocFlags::NOFRAGMENT))
    }

    /// Goes through the zonelist once. Ends without a block where [`AllocFlags::NOFRAGMENT`] would lead to
    /// another node: local memory matters more than unmixed pageblocks.
    fn try_zones_once(&self, request: &Request, mark: Mark, flags: AllocFlags) -> Option<FoundBlock<'m, L>> {
        let order = request.order;
        let highest_zone = request.gfp.highest_zone() as usize;
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
            let want = Want { order, migratetype: request.gfp.migratetype(), flags };
            let taken = zone.take(request.cpu, want, mark);
            zone.wake_for_boost(flags, &self.requests[usize::from(request.cpu)]);
            if let Some(index) = taken {
                return Some((zone, index));
            }
        }
        None
    }
}

impl<'m, L: Locks> Zone<'m, L> {
    /// Returns true if the zone is above every mark that any request of this order is compared with.
    #[inline]
    pub(crate) fn has_plenty(&self, order: Order) -> bool {
        u32::from(order.get()) < self.shared.plenty.load(Ordering::Relaxed)
    }

    /// Takes a block from a CPU's list or, if that gives none, from the free lists.
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

    /// Returns the flags of the first attempt of a request that tries this zone first.
    pub(super) fn first_flags(&self, request: Request) -> AllocFlags {
        let mut flags = AllocFlags::fast(request.gfp);
        flags.set(AllocFlags::NOFRAGMENT, self.unmixed.is_wished());
        if self.switches.highatomic_first {
            flags |= AllocFlags::highatomic(request.gfp, request.order);
        }
        flags
    }

    /// Returns what a request wants, or `None` if it has rights or wishes beyond the ordinary.
    pub(super) fn ordinary_want(&self, request: Request) -> Option<Want> {
        let flags = self.first_flags(request);
        let is_ordinary = !flags.intersects(AllocFlags::NOFRAGMENT | AllocFlags::HIGHATOMIC);
        is_ordinary.then(|| Want { order: request.order, migratetype: request.gfp.migratetype(), flags })
    }

    /// Answers a request if the zone has plenty. `lists` returns the CPU's lists, and is called only for
    /// an order that has per-CPU lists.
    #[inline]
    pub(super) fn alloc_from_plenty<G: DerefMut<Target = PerCpuLists<'m>>>(
        &self,
        request: Request,
        cpu: &CpuRequests,
        lists: impl FnOnce() -> Option<G>,
    ) -> Option<Pfn> {
        if !self.has_plenty(request.order) {
            return None;
        }
        if self.has_percpu_list(request.order) {
            let mut lists = lists()?;
            if request.order > Order::COSTLY
                && request.order <= self.listed
                && let Some(index) = lists.take_fast(request.gfp.migratetype(), request.order)
            {
                return Some(self.hand_out(index, request, cpu));
            }
            return self.alloc_from_lists(&mut lists, request, cpu);
        }
        let want = self.ordinary_want(request)?;
        let index = self.lock().take_direct(want)?;
        self.wake_for_boost(want.flags, cpu);
        Some(self.hand_out(index, request, cpu))
    }

    /// Answers a request from lists that the caller holds. The zone has plenty.
    pub(super) fn alloc_from_lists(
        &self,
        lists: &mut PerCpuLists<'m>,
        request: Request,
        cpu: &CpuRequests,
    ) -> Option<Pfn> {
        let want = self.ordinary_want(request)?;
        lists.note_allocs(1);
        let index = self.take_from_lists(lists, want).or_else(|| self.lock().take_direct(want))?;
        self.wake_for_boost(want.flags, cpu);
        Some(self.hand_out(index, request, cpu))
    }

    /// Hands a found block to the caller of a request: sets the frame's word, counts the request, and
    /// returns the first frame.
    #[expect(clippy::inline_always, reason = "a call would cost as much as half of what it does")]
    #[inline(always)]
    pub(super) fn hand_out(&self, index: FrameIndex, request: Request, cpu: &CpuRequests) -> Pfn {
        let wanted = request.gfp.migratetype();
        cpu.count_answered(request.order, 1);
        self.deliver(index, FrameWord::requested(request.order, wanted), wanted, cpu)
    }

    /// Gives a block to its new owner, counts it if it lies in another type's pageblock, and returns its first
    /// frame.
    #[expect(clippy::inline_always, reason = "a call would cost as much as half of what it does")]
    #[inline(always)]
    pub(super) fn deliver(
        &self,
        index: FrameIndex,
        word: FrameWord,
        wanted: Migratetype,
        cpu: &CpuRequests,
    ) -> Pfn {
        // What is rare is one call at the end, across which nothing need be kept.
        if self.blocks.is_of(index, wanted)
            && let Some((pfn, frame)) = self.frames.in_run(index)
        {
            frame.hand_over(word);
            return pfn;
        }
        self.deliver_checked(index, word, wanted, cpu)
    }

    #[cold]
    fn deliver_checked(
        &self,
        index: FrameIndex,
        word: FrameWord,
        wanted: Migratetype,
        cpu: &CpuRequests,
    ) -> Pfn {
        if !self.blocks.is_of(index, wanted) {
            self.count_unless_allowed(index, wanted, cpu);
        }
        self.frames.hand_over(index, word);
        self.frames.pfn(index)
    }

    fn count_unless_allowed(&self, index: FrameIndex, wanted: Migratetype, cpu: &CpuRequests) {
        // Movable pages may be in CMA pageblocks, any in the reserve for atomic requests.
        let is_allowed = match self.blocks.get(index) {
            Migratetype::Cma => wanted == Migratetype::Movable,
            other => other == Migratetype::HighAtomic,
        };
        if !is_allowed {
            cpu.count_type_mismatch();
        }
    }

    /// Counts a wake of kswapd if a fallback has raised the marks since the last one.
    fn wake_for_boost(&self, flags: AllocFlags, cpu: &CpuRequests) {
        if flags.contains(AllocFlags::KSWAPD) && self.shared.boosted.load(Ordering::Relaxed) {
            self.shared.boosted.store(false, Ordering::Relaxed);
            cpu.count_kswapd_wake();
        }
    }
}
