//! A CPU's lists in the hands of one owner, whose requests take no lock.

use core::fmt;

use lock_api::MutexGuard;

use crate::memory::{CpuRequests, FirstZones, Memory};
use crate::percpu::PerCpuLists;
use crate::table::FrameIndex;
use crate::table::sync::Locks;
use crate::types::{AllocError, FreeError, Migratetype, Order, Pfn, Request};
use crate::zone::Zone;

/// The number of zones whose lists one owner can hold; requests of further zones take their locks.
const MOST_ZONES: usize = 8;

/// One CPU's lists, held by one owner for as long as this lives.
///
/// Requests that the lists can answer take no lock; a free takes one compare-and-swap, and with
/// [`crate::OwnersFreeOnce`] no atomic read-modify-write. Every other caller finds the CPU's lists busy: its
/// requests on this CPU go to the free lists, and its drains wait.
///
/// **A drain waits for as long as this lives.** That includes other CPUs' plain requests that find no memory
/// and may reclaim ([`Memory::alloc`]). [`Exclusive::pause`] lets them in: an owner that lives long calls it
/// now and then, as a kernel enables interrupts, and ends or pauses before it sleeps.
///
/// **The thread that owns waits for itself** if it drains or looks at lists by other ways than this:
/// [`Memory::alloc`] with [`crate::GfpFlags::DIRECT_RECLAIM`], [`Memory::alloc_with`], [`Memory::free_bulk`],
/// [`Memory::refresh`], [`Memory::drain_all`], kswapd, kcompactd, tidying, contiguous ranges, hotplug,
/// [`crate::Zone::percpu_pages`], the lists of [`crate::Zone`], and [`Memory::check`]. So does one thread with
/// two owners, for two CPUs, when a request of one has to drain. It ends the owner first.
///
/// If the lock of CPUs' lists turns interrupts off, they are off for as long as this lives; see [`Locks`].
pub struct Exclusive<'a, 'm, L: Locks> {
    pub(super) memory: &'a Memory<'m, L>,
    cpu: u16,
    requests: &'a CpuRequests,
    /// The node of the last checked request, and the zones that requests try first there.
    node: u16,
    first_zones: FirstZones,
    /// The number of the zone that a block was freed to last.
    recent: usize,
    /// By the number of the zone.
    held: [Option<Held<'a, 'm, L>>; MOST_ZONES],
}

/// One zone's lists of the owner's CPU.
pub(super) struct Held<'a, 'm, L: Locks> {
    pub(super) zone: &'a Zone<'m, L>,
    pub(super) lists: MutexGuard<'a, L::PerCpu, PerCpuLists<'m>>,
}

impl<'m, L: Locks> Memory<'m, L> {
    /// Holds a CPU's lists for one owner, and waits while another caller holds them. Returns `None` for an
    /// absent CPU.
    pub fn exclusive(&self, cpu: u16) -> Option<Exclusive<'_, 'm, L>> {
        let mut owner = Exclusive {
            memory: self,
            cpu,
            requests: self.requests.get(usize::from(cpu))?,
            node: 0,
            first_zones: *self.first_zones.first()?,
            recent: 0,
            held: [const { None }; MOST_ZONES],
        };
        owner.hold();
        Some(owner)
    }
}

impl<'a, 'm, L: Locks> Exclusive<'a, 'm, L> {
    /// Returns the CPU whose lists these are.
    pub fn cpu(&self) -> u16 {
        self.cpu
    }

    /// Releases the lists' locks for a moment and takes them again. Who waits gets one of them if it is there in
    /// that moment or the lock is a fair one, and otherwise after a later pause.
    pub fn pause(&mut self) {
        self.let_go();
        self.hold();
    }

    fn hold(&mut self) {
        let memory: &'a Memory<'m, L> = self.memory;
        for (slot, zone) in self.held.iter_mut().zip(memory.zones) {
            *slot = zone.lock_lists(self.cpu).map(|lists| Held { zone, lists });
        }
    }

    /// Releases the locks in the reverse of the order in which they were taken: a lock that turns
    /// interrupts off remembers what it found, which is right for nested locks only.
    fn let_go(&mut self) {
        for slot in self.held.iter_mut().rev() {
            *slot = None;
        }
    }

    /// Answers a request of this CPU, whatever CPU it names, as [`Memory::alloc`] does.
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
        let held = self.held.get_mut(usize::from(first))?.as_mut()?;
        if request.node != self.node || request.order > Order::COSTLY || !held.zone.has_plenty(request.order)
        {
            return None;
        }
        let index = held.lists.take_fast(request.gfp.migratetype(), request.order)?;
        Some(held.zone.hand_out(index, request, self.requests))
    }

    #[cold]
    fn alloc_checked(&mut self, request: Request) -> Result<Pfn, AllocError> {
        let first_zones = self.memory.first_zones.get(usize::from(request.node));
        (self.node, self.first_zones) = (request.node, *first_zones.ok_or(AllocError::NoSuchNode)?);
        if let Some(pfn) = self.alloc_from_first_zone(request) {
            return Ok(pfn);
        }
        if self.memory.fails_without_blocks(&request, self.requests, true) {
            return Err(AllocError::NoMemory);
        }
        self.let_go();
        let answer = self.memory.alloc(Request { cpu: self.cpu, ..request });
        self.hold();
        answer
    }

    /// Answers a request from its first zone if that zone has plenty, without releasing the lists.
    #[inline]
    fn alloc_from_first_zone(&mut self, request: Request) -> Option<Pfn> {
        let (held, requests) = self.held_first(request)?;
        held.zone.alloc_from_plenty(request, requests, || Some(&mut *held.lists))
    }

    /// Returns the held lists of the zone that a request tries first, and the CPU's counters.
    pub(super) fn held_first(&mut self, request: Request) -> Option<(&mut Held<'a, 'm, L>, &'a CpuRequests)> {
        let number = self.memory.first_zone(request)?;
        Some((self.held.get_mut(number)?.as_mut()?, self.requests))
    }

    /// Returns the held lists of the zone that a block was freed to last.
    #[inline]
    pub(super) fn held_recent(&mut self) -> Option<&mut Held<'a, 'm, L>> {
        self.held[self.recent % MOST_ZONES].as_mut()
    }

    /// Frees a block, as [`Memory::free`] does.
    ///
    /// # Errors
    /// See [`FreeError`]; nothing has changed then.
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
        let held = self.held_recent()?;
        if !held.zone.has_plenty(Order::ZERO) {
            return None;
        }
        let page = held.zone.frames.find_in_run(pfn)?;
        held.zone.free_page_fast(&mut held.lists, page)
    }

    /// Frees a single page that the fast path left: behind a hole between sections it may need no decision.
    #[cold]
    fn free_page(&mut self, pfn: Pfn) -> Result<(), FreeError> {
        if self.memory.has_holes && self.free_fast_behind_hole(pfn).is_some() {
            return Ok(());
        }
        self.free_checked(pfn, Order::ZERO)
    }

    /// Puts a single page on the stack of its list as [`Self::free_fast`] does, wherever it lies.
    #[inline]
    fn free_fast_behind_hole(&mut self, pfn: Pfn) -> Option<()> {
        let held = self.held_recent()?;
        if !held.zone.has_plenty(Order::ZERO) {
            return None;
        }
        let page = held.zone.frames.find(pfn)?;
        held.zone.free_page_fast(&mut held.lists, page)
    }

    /// Frees a block of any order.
    #[cold]
    pub(super) fn free_checked(&mut self, pfn: Pfn, order: Order) -> Result<(), FreeError> {
        let Some((held, index)) = self.holder(pfn) else { return self.free_with_locks(pfn, order) };
        let (zone, block_type) = (held.zone, held.zone.blocks.get(index));
        if !zone.has_percpu_list(order) {
            zone.reclaim_ownership(index, order)?;
            zone.lock().free_direct(index, order, block_type);
            return Ok(());
        }
        if block_type == Migratetype::Isolate {
            return self.free_with_locks(pfn, order);
        }
        zone.reclaim_ownership(index, order)?;
        zone.put_percpu(&mut *held.lists, index, order, block_type, Some);
        Ok(())
    }

    /// Returns the held lists of a frame's zone and the frame's index, or `None` if no held zone contains
    /// the frame.
    fn holder(&mut self, pfn: Pfn) -> Option<(&mut Held<'a, 'm, L>, FrameIndex)> {
        self.recent = self.memory.zones.iter().position(|zone| zone.contains(pfn))?;
        let held = self.held.get_mut(self.recent)?.as_mut()?;
        let index = held.zone.frames.index(pfn)?;
        Some((held, index))
    }

    #[cold]
    fn free_with_locks(&mut self, pfn: Pfn, order: Order) -> Result<(), FreeError> {
        self.let_go();
        let done = self.memory.free(self.cpu, pfn, order);
        self.hold();
        done
    }
}

impl<L: Locks> fmt::Debug for Exclusive<'_, '_, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exclusive").field("cpu", &self.cpu).finish_non_exhaustive()
    }
}

impl<L: Locks> Drop for Exclusive<'_, '_, L> {
    fn drop(&mut self) {
        self.let_go();
    }
}
