//! A CPU's lists in one owner's hands: requests without any lock.

use lock_api::MutexGuard;

use crate::alloc::Request;
use crate::frame::FrameIndex;
use crate::memory::Memory;
use crate::percpu::PerCpuLists;
use crate::sync::Locks;
use crate::zone::Zone;
use crate::{AllocError, FreeError, Migratetype, Order, Pfn};

/// How many zones' lists one owner can hold; requests of further zones take their locks.
const MOST_ZONES: usize = 8;

/// One CPU's lists, held by one owner for as long as this lives.
///
/// Requests that the lists can answer take no lock and write nothing with an atomic
/// read-modify-write. Everybody else finds the CPU's lists busy meanwhile: requests in this
/// CPU's name go to the free lists directly, and whoever wants the lists given back waits.
/// [`Exclusive::pause`] lets them in; an owner that lives long calls it now and then, as a
/// kernel does by enabling interrupts.
///
/// Two owners that free the same block at the same instant are not told apart; one after
/// the other they are.
pub struct Exclusive<'a, 'm, L: Locks> {
    memory: &'a Memory<'m, L>,
    cpu: u16,
    lists: [Option<MutexGuard<'a, L::PerCpu, PerCpuLists>>; MOST_ZONES],
}

impl<'m, L: Locks> Memory<'m, L> {
    /// Holds a CPU's lists for one owner; waits until nobody else does.
    ///
    /// `None` for an absent CPU.
    pub fn exclusive(&self, cpu: u16) -> Option<Exclusive<'_, 'm, L>> {
        if cpu >= self.cpus() {
            return None;
        }
        let mut owner = Exclusive { memory: self, cpu, lists: [const { None }; MOST_ZONES] };
        owner.hold();
        Some(owner)
    }
}

impl<'a, 'm, L: Locks> Exclusive<'a, 'm, L> {
    /// The CPU whose lists these are.
    pub fn cpu(&self) -> u16 {
        self.cpu
    }

    /// Lets others have the lists for a moment.
    pub fn pause(&mut self) {
        self.let_go();
        self.hold();
    }

    fn hold(&mut self) {
        let memory: &'a Memory<'m, L> = self.memory;
        for (slot, zone) in self.lists.iter_mut().zip(memory.zones) {
            *slot = Some(zone.percpu[usize::from(self.cpu)].lock());
        }
    }

    fn let_go(&mut self) {
        self.lists = [const { None }; MOST_ZONES];
    }

    /// Answers a request of this CPU, whatever CPU it names.
    ///
    /// The same answer as [`Memory::alloc`] gives.
    ///
    /// # Errors
    /// See [`AllocError`].
    #[inline]
    pub fn alloc(&mut self, request: Request) -> Result<Pfn, AllocError> {
        let request = Request { cpu: self.cpu, ..request };
        if let Some((number, zone)) = self.memory.zone_with_plenty(request)
            && zone.has_percpu_list(request.order)
            && let Some(Some(lists)) = self.lists.get_mut(number)
            && let Some((index, frame)) = zone.take_listed(lists, request)
        {
            let counters = &self.memory.requests[usize::from(self.cpu)];
            return Ok(zone.hand_out(index, frame, request, counters));
        }
        self.alloc_with_locks(request)
    }

    #[cold]
    fn alloc_with_locks(&mut self, request: Request) -> Result<Pfn, AllocError> {
        self.let_go();
        let answer = self.memory.alloc(request);
        self.hold();
        answer
    }

    /// Takes back a block.
    ///
    /// The same as [`Memory::free`] does.
    ///
    /// # Errors
    /// See [`FreeError`]; nothing has changed then.
    #[inline]
    pub fn free(&mut self, pfn: Pfn, order: Order) -> Result<(), FreeError> {
        let memory: &'a Memory<'m, L> = self.memory;
        if order <= Order::COSTLY
            && let Some(number) = memory.zones.iter().position(|zone| zone.contains(pfn))
            && let Some(Some(lists)) = self.lists.get_mut(number)
        {
            let zone = &memory.zones[number];
            if let Some(index) = zone.frames.index(pfn)
                && zone.frames.word(index).is_owned_of(order)
                && let block_type = zone.blocks.get(index)
                && block_type != Migratetype::Isolate
            {
                zone.put_held(lists, index, order, block_type);
                return Ok(());
            }
        }
        self.free_with_locks(pfn, order)
    }

    /// Takes back a single page whose owner may have a rival: of two that free the same page
    /// at once, one gets an error.
    pub(crate) fn free_owned(&mut self, pfn: Pfn) -> Result<(), FreeError> {
        let memory: &'a Memory<'m, L> = self.memory;
        let number =
            memory.zones.iter().position(|zone| zone.contains(pfn)).ok_or(FreeError::OutsideZones)?;
        let zone = &memory.zones[number];
        let index = zone.frames.index(pfn).ok_or(FreeError::OutsideZones)?;
        let block_type = zone.blocks.get(index);
        match self.lists.get_mut(number) {
            Some(Some(lists)) if block_type != Migratetype::Isolate => {
                zone.reclaim_ownership(index, Order::ZERO)?;
                zone.put_held(lists, index, Order::ZERO, block_type);
                Ok(())
            }
            _ => self.free_with_locks(pfn, Order::ZERO),
        }
    }

    #[cold]
    fn free_with_locks(&mut self, pfn: Pfn, order: Order) -> Result<(), FreeError> {
        self.let_go();
        let done = self.memory.free(self.cpu, pfn, order);
        self.hold();
        done
    }
}

impl<L: Locks> Zone<'_, L> {
    /// Puts a block on lists that the caller holds for good, and gives back what is too much.
    #[inline]
    fn put_held(&self, lists: &mut PerCpuLists, index: FrameIndex, order: Order, block_type: Migratetype) {
        let (number, surplus) = self.put_listed(lists, index, order, block_type);
        let Some(mut surplus) = surplus else { return };
        while surplus > 0 && lists.count > 0 {
            let now = if self.switches.batched_free { surplus.min(lists.settings.batch) } else { surplus };
            self.drain_percpu(lists, now, number);
            surplus -= now;
        }
        if self.switches.below_high_mark {
            self.clear_below_high();
        }
    }
}
