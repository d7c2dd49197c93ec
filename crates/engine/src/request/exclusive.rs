//! Exclusive use of a CPU's lists by one owner, whose requests take no lock.

use core::fmt;

use super::reclaim::NoReclaim;
use crate::memory::{CpuRequests, FirstZones, Memory};
use crate::table::FrameIndex;
use crate::types::{AllocError, FreeError, Migratetype, Order, Pfn, Platform, Request};
use crate::zone::{LockedLists, Zone};

/// The number of zones whose lists one owner can lock. Requests to further zones take their locks each time.
const MOST_ZONES: usize = 8;

/// Exclusive use of one CPU's lists: a value of this type, the owner, keeps their locks for its lifetime.
///
/// A request that the lists can serve takes no lock. A free takes one compare-and-swap, or with
/// [`crate::OwnersFreeOnce`], for single pages and batches, no atomic read-modify-write. All other callers find the
/// CPU's lists locked: their requests on this CPU go to the free lists. Requests never wait for an owner: they leave its lists out of their drains, and fail
/// with [`AllocError::Busy`] if they find no block.
///
/// **All other drains wait until the owner is dropped or paused.** A long-lived owner must call [`Exclusive::pause`] from
/// time to time, as a kernel enables interrupts. It must be paused or dropped before its thread sleeps.
///
/// **The owner's thread deadlocks** if it calls what waits for the locks of these lists: [`Memory::free_bulk`],
/// [`Memory::refresh`], [`Memory::drain_all`], kswapd, kcompactd, tidying, contiguous ranges, hotplug,
/// [`crate::Zone::percpu_pages`], the lists of [`crate::Zone`], and [`Memory::check`]. That holds for the lists of each
/// owner that the thread has. Drop the owners before such a call.
///
/// If the lock of CPUs' lists turns interrupts off, they are off during the owner's lifetime; see [`Platform`].
pub struct Exclusive<'a, 'm, P: Platform> {
    pub(super) memory: &'a Memory<'m, P>,
    cpu: u16,
    requests: &'a CpuRequests,
    /// The node of the last request that took [`Self::alloc_checked`], and the zones that requests try first there.
    node: u16,
    first_zones: FirstZones,
    /// The number of the zone to which a block was freed last.
    recent: usize,
    /// The locked lists, by the number of the zone.
    locked: [Option<LockedZone<'a, 'm, P>>; MOST_ZONES],
}

/// The locked lists of the owner's CPU in one zone.
pub(super) struct LockedZone<'a, 'm, P: Platform> {
    pub(super) zone: &'a Zone<'m, P>,
    pub(super) lists: LockedLists<'a, 'm, P>,
}

impl<'m, P: Platform> Memory<'m, P> {
    /// Locks a CPU's lists for one owner. Waits while another caller holds their locks. Returns `None` for an absent
    /// CPU.
    pub fn exclusive(&self, cpu: u16) -> Option<Exclusive<'_, 'm, P>> {
        let mut owner = Exclusive {
            memory: self,
            cpu,
            requests: self.requests.get(usize::from(cpu))?,
            node: 0,
            first_zones: *self.first_zones.first()?,
            recent: 0,
            locked: [const { None }; MOST_ZONES],
        };
        owner.hold();
        Some(owner)
    }
}

impl<'a, 'm, P: Platform> Exclusive<'a, 'm, P> {
    /// Returns the CPU whose lists these are.
    pub fn cpu(&self) -> u16 {
        self.cpu
    }

    /// Releases the locks of the lists for a moment, and takes them again. A waiting caller gets a lock if it tries in
    /// that moment, or if the lock is fair; otherwise it waits for a later pause.
    pub fn pause(&mut self) {
        self.let_go();
        self.hold();
    }

    fn hold(&mut self) {
        let memory: &'a Memory<'m, P> = self.memory;
        for (slot, zone) in self.locked.iter_mut().zip(memory.zones) {
            *slot = zone.lock_lists(self.cpu).map(|lists| LockedZone { zone, lists });
        }
        memory.owners.note(self.cpu);
    }

    /// Releases the locks in the reverse of the order in which they were taken. A lock that turns interrupts off saves
    /// the state that it found, which is right only for nested locks.
    fn let_go(&mut self) {
        self.memory.owners.forget(self.cpu);
        for slot in self.locked.iter_mut().rev() {
            *slot = None;
        }
    }

    /// Allocates a block on this CPU as [`Memory::alloc`] does. The CPU in the request is ignored.
    ///
    /// # Errors
    /// See [`AllocError`].
    #[inline]
    pub fn alloc(&mut self, request: Request) -> Result<Pfn, AllocError> {
        match self.alloc_fast(request) {
            Some(pfn) => Ok(pfn),
            None => self.alloc_checked(request),
        }
    }

    #[expect(clippy::inline_always, reason = "a call would cost as much as half of what it does")]
    #[inline(always)]
    fn alloc_fast(&mut self, request: Request) -> Option<Pfn> {
        let first = self.first_zones[request.gfp.highest_zone() as usize];
        let locked = self.locked.get_mut(usize::from(first))?.as_mut()?;
        if request.node != self.node
            || request.order > Order::COSTLY
            || !locked.zone.has_plenty(request.order)
        {
            return None;
        }
        let index = locked.lists.take_fast(request.gfp.migratetype(), request.order)?;
        Some(locked.zone.hand_out(index, request, self.requests))
    }

    #[cold]
    fn alloc_checked(&mut self, request: Request) -> Result<Pfn, AllocError> {
        let first_zones = self.memory.first_zones.get(usize::from(request.node));
        (self.node, self.first_zones) = (request.node, *first_zones.ok_or(AllocError::NoSuchNode)?);
        if let Some(pfn) = self.alloc_from_first_zone(request) {
            return Ok(pfn);
        }
        if self.memory.fails_without_blocks(&request, self.requests, true, true) {
            return Err(AllocError::NoMemory);
        }
        self.let_go();
        let answer = self.memory.alloc(Request { cpu: self.cpu, ..request }, NoReclaim);
        self.hold();
        answer
    }

    /// Allocates a block from the first zone of a request if that zone has plenty, without releasing the locks.
    #[inline]
    fn alloc_from_first_zone(&mut self, request: Request) -> Option<Pfn> {
        let (locked, requests) = self.first_locked(request)?;
        locked.zone.alloc_from_plenty(request, requests, || Some(&mut *locked.lists))
    }

    /// Returns the locked lists of the zone that a request tries first, and the CPU's counters.
    pub(super) fn first_locked(
        &mut self,
        request: Request,
    ) -> Option<(&mut LockedZone<'a, 'm, P>, &'a CpuRequests)> {
        let number = self.memory.first_zone(request)?;
        Some((self.locked.get_mut(number)?.as_mut()?, self.requests))
    }

    /// Returns the locked lists of the zone to which a block was freed last.
    #[inline]
    pub(super) fn recent_locked(&mut self) -> Option<&mut LockedZone<'a, 'm, P>> {
        self.locked[self.recent % MOST_ZONES].as_mut()
    }

    /// Frees a block, as [`Memory::free`] does.
    ///
    /// # Errors
    /// See [`FreeError`]. After an error nothing has changed.
    #[inline]
    pub fn free(&mut self, pfn: Pfn, order: Order) -> Result<(), FreeError> {
        if order > Order::ZERO {
            return self.free_checked(pfn, order);
        }
        match self.free_fast(pfn) {
            Some(()) => Ok(()),
            None => self.free_page(pfn),
        }
    }

    #[expect(clippy::inline_always, reason = "a call would cost as much as half of what it does")]
    #[inline(always)]
    fn free_fast(&mut self, pfn: Pfn) -> Option<()> {
        let locked = self.recent_locked()?;
        if !locked.zone.has_plenty(Order::ZERO) {
            return None;
        }
        let page = locked.zone.frames.find_in_run(pfn)?;
        locked.zone.free_page_fast(&mut locked.lists, page)
    }

    /// Frees a single page after the fast path has declined. Behind a hole between sections, the page may still need no
    /// further checks.
    #[cold]
    fn free_page(&mut self, pfn: Pfn) -> Result<(), FreeError> {
        if self.memory.has_holes && self.free_fast_behind_hole(pfn).is_some() {
            return Ok(());
        }
        self.free_checked(pfn, Order::ZERO)
    }

    /// Puts a single page on the stack of its list as [`Self::free_fast`] does, also behind a hole between sections.
    #[inline]
    fn free_fast_behind_hole(&mut self, pfn: Pfn) -> Option<()> {
        let locked = self.recent_locked()?;
        if !locked.zone.has_plenty(Order::ZERO) {
            return None;
        }
        let page = locked.zone.frames.find(pfn)?;
        locked.zone.free_page_fast(&mut locked.lists, page)
    }

    /// Frees a block of any order.
    #[cold]
    pub(super) fn free_checked(&mut self, pfn: Pfn, order: Order) -> Result<(), FreeError> {
        let Some((locked, index)) = self.holder(pfn) else { return self.free_with_locks(pfn, order) };
        let (zone, block_type) = (locked.zone, locked.zone.blocks.get(index));
        if !zone.uses_lists(order) {
            zone.reclaim_ownership(index, order)?;
            let mut guard = zone.lock();
            if !zone.is_mine(index) {
                return Err(FreeError::AlreadyFree);
            }
            guard.free_direct(index, order, block_type);
            return Ok(());
        }
        if block_type == Migratetype::Isolate {
            return self.free_with_locks(pfn, order);
        }
        zone.reclaim_ownership(index, order)?;
        if !zone.is_mine(index) {
            return Err(FreeError::AlreadyFree);
        }
        zone.put_percpu(&mut *locked.lists, index, order, block_type, Some);
        Ok(())
    }

    /// Returns the locked lists of the zone of a frame, and the frame's index. Returns `None` if the lists of that zone
    /// are not locked.
    fn holder(&mut self, pfn: Pfn) -> Option<(&mut LockedZone<'a, 'm, P>, FrameIndex)> {
        self.recent = self.memory.zones.iter().position(|zone| zone.contains(pfn))?;
        let locked = self.locked.get_mut(self.recent)?.as_mut()?;
        let index = locked.zone.frames.index(pfn)?;
        Some((locked, index))
    }

    #[cold]
    fn free_with_locks(&mut self, pfn: Pfn, order: Order) -> Result<(), FreeError> {
        self.let_go();
        let done = self.memory.free(self.cpu, pfn, order);
        self.hold();
        done
    }
}

impl<P: Platform> fmt::Debug for Exclusive<'_, '_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exclusive").field("cpu", &self.cpu).finish_non_exhaustive()
    }
}

impl<P: Platform> Drop for Exclusive<'_, '_, P> {
    fn drop(&mut self) {
        self.let_go();
    }
}
