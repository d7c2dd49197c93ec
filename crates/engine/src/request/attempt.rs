//! One attempt to allocate: the watermark check of each zone, and a block from the first zone that has one.

use core::ops::DerefMut;

use crate::memory::{CpuRequests, Memory};
use crate::percpu::PerCpuLists;
use crate::table::sync::Ordering;
use crate::table::{FrameIndex, FrameWord};
use crate::types::{AllocContext, AllocFlags, Migratetype, Order, Pfn, Platform, Request};
use crate::zone::{Admission, Mark, Zone};

/// A block that was found for a request, with its zone.
pub(super) type FoundBlock<'m, P> = (&'m Zone<'m, P>, FrameIndex);

impl<'m, P: Platform> Memory<'m, P> {
    /// Takes a block from the first zone of the zonelist that admits the request and has a block. If there is none,
    /// tries the zonelist a second time without [`AllocFlags::NOFRAGMENT`], except in defrag mode.
    ///
    /// Linux counterpart: `get_page_from_freelist`.
    pub(super) fn try_zones(
        &self,
        request: &Request,
        mark: Mark,
        flags: AllocFlags,
    ) -> Option<FoundBlock<'m, P>> {
        let found = self.try_zones_once(request, mark, flags);
        if found.is_some() || !flags.contains(AllocFlags::NOFRAGMENT) || self.tunables.defrag_mode() {
            return found;
        }
        self.try_zones_once(request, mark, flags.difference(AllocFlags::NOFRAGMENT))
    }

    /// Tries the zones of the zonelist once. Returns `None` if [`AllocFlags::NOFRAGMENT`] would lead to another node,
    /// because local memory matters more than unmixed pageblocks.
    fn try_zones_once(&self, request: &Request, mark: Mark, flags: AllocFlags) -> Option<FoundBlock<'m, P>> {
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
            let context = AllocContext { order, migratetype: request.gfp.migratetype(), flags };
            let taken = zone.take(request.cpu, context, mark);
            zone.wake_for_boost(flags, &self.requests[usize::from(request.cpu)]);
            if let Some(index) = taken {
                return Some((zone, index));
            }
        }
        None
    }
}

impl<'m, P: Platform> Zone<'m, P> {
    /// Returns true if the zone is above every watermark that applies to any request of this order.
    #[inline]
    pub(crate) fn has_plenty(&self, order: Order) -> bool {
        u32::from(order.get()) < self.shared.plenty.load(Ordering::Relaxed)
    }

    /// Takes a block from a CPU's list or, if that has none, from the free lists.
    ///
    /// Linux counterpart: `rmqueue`.
    fn take(&self, cpu: u16, context: AllocContext, mark: Mark) -> Option<FrameIndex> {
        let from_list = self.uses_lists(context.order).then(|| self.take_percpu(cpu, context)).flatten();
        let reserves = context.flags.contains(AllocFlags::HIGHATOMIC);
        let (index, reserve) = if let Some(index) = from_list {
            (index, reserves && !self.switches.highatomic_first)
        } else {
            let direct = self.lock().take_direct(context);
            let Some(index) = direct else { return self.take_left_on_list(cpu, context) };
            (index, reserves && (!self.switches.highatomic_first || mark == Mark::Min))
        };
        if reserve {
            self.reserve_highatomic(index, context.order);
        }
        Some(index)
    }

    /// Takes a block that was left on a CPU's list while requests bypass the lists.
    #[cold]
    #[inline(never)]
    fn take_left_on_list(&self, cpu: u16, context: AllocContext) -> Option<FrameIndex> {
        let left = self.bypasses_lists() && self.has_percpu_list(context.order);
        left.then(|| self.take_percpu(cpu, context)).flatten()
    }

    /// Allocates a block from the free lists while requests bypass the per-CPU lists, if the zone has plenty.
    #[inline(never)]
    pub(super) fn alloc_beside_lists(&self, request: Request, cpu: &CpuRequests) -> Option<Pfn> {
        if !self.has_any_block(request.order) {
            return None;
        }
        let context = self.ordinary_context(request)?;
        let mut guard = self.lock();
        if self.plenty(&guard.state) <= u32::from(request.order.get()) {
            return None;
        }
        let index = guard.take_direct(context)?;
        drop(guard);
        self.wake_for_boost(context.flags, cpu);
        Some(self.hand_out(index, request, cpu))
    }

    /// Returns the flags of the first attempt for a request that tries this zone first.
    pub(super) fn first_flags(&self, request: Request) -> AllocFlags {
        let mut flags = AllocFlags::fast(request.gfp);
        flags.set(AllocFlags::NOFRAGMENT, self.unmixed.is_set());
        if self.switches.highatomic_first {
            flags |= AllocFlags::highatomic(request.gfp, request.order);
        }
        flags
    }

    /// Returns the context of an ordinary request. Returns `None` if the request may use the atomic reserve, or must
    /// avoid mixed pageblocks.
    pub(super) fn ordinary_context(&self, request: Request) -> Option<AllocContext> {
        let flags = self.first_flags(request);
        let is_ordinary = !flags.intersects(AllocFlags::NOFRAGMENT | AllocFlags::HIGHATOMIC);
        is_ordinary.then(|| AllocContext {
            order: request.order,
            migratetype: request.gfp.migratetype(),
            flags,
        })
    }

    /// Allocates a block if the zone has plenty. `lists` returns the CPU's lists, and is called only for an order that
    /// has per-CPU lists.
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
        let context = self.ordinary_context(request)?;
        let index = self.lock().take_direct(context)?;
        self.wake_for_boost(context.flags, cpu);
        Some(self.hand_out(index, request, cpu))
    }

    /// Allocates a block from lists that the caller has locked. The zone must have plenty.
    pub(super) fn alloc_from_lists(
        &self,
        lists: &mut PerCpuLists<'m>,
        request: Request,
        cpu: &CpuRequests,
    ) -> Option<Pfn> {
        let context = self.ordinary_context(request)?;
        lists.note_allocs(1);
        let index = self.take_from_lists(lists, context).or_else(|| self.lock().take_direct(context))?;
        self.wake_for_boost(context.flags, cpu);
        Some(self.hand_out(index, request, cpu))
    }

    /// Hands a block to the caller of a request: sets the frame's word, counts the request, and returns the first
    /// frame.
    #[expect(clippy::inline_always, reason = "a call would cost as much as half of what it does")]
    #[inline(always)]
    pub(super) fn hand_out(&self, index: FrameIndex, request: Request, cpu: &CpuRequests) -> Pfn {
        let wanted = request.gfp.migratetype();
        cpu.count_answered(request.order, 1);
        self.deliver(index, FrameWord::requested(request.order, wanted), wanted, cpu)
    }

    /// Gives a block to its new owner, counts a type mismatch if it lies in another type's pageblock, and returns its
    /// first frame.
    #[expect(clippy::inline_always, reason = "a call would cost as much as half of what it does")]
    #[inline(always)]
    pub(super) fn deliver(
        &self,
        index: FrameIndex,
        word: FrameWord,
        wanted: Migratetype,
        cpu: &CpuRequests,
    ) -> Pfn {
        // The rare case is one call at the end, so that no register must be saved across it.
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
        // Movable pages may lie in CMA pageblocks, pages of any type in the reserve for atomic requests.
        let is_allowed = match self.blocks.get(index) {
            Migratetype::Cma => wanted == Migratetype::Movable,
            other => other == Migratetype::HighAtomic,
        };
        if !is_allowed {
            cpu.count_type_mismatch();
        }
    }

    /// Counts a wake of kswapd if a fallback has raised the watermarks since the last wake.
    fn wake_for_boost(&self, flags: AllocFlags, cpu: &CpuRequests) {
        if flags.contains(AllocFlags::KSWAPD) && self.shared.boosted.load(Ordering::Relaxed) {
            self.shared.boosted.store(false, Ordering::Relaxed);
            cpu.count_kswapd_wake();
        }
    }
}
