//! A CPU's lists in one owner's hands: requests without any lock.

use lock_api::MutexGuard;

use crate::memory::{CpuRequests, FirstZones, Memory};
use crate::percpu::PerCpuLists;
use crate::table::FrameIndex;
use crate::table::sync::Locks;
use crate::types::{AllocError, FreeError, Migratetype, Order, Pfn, Request};
use crate::zone::Zone;

/// How many zones' lists one owner can hold; requests of further zones take their locks.
pub(crate) const MOST_ZONES: usize = 8;

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
    pub(crate) memory: &'a Memory<'m, L>,
    cpu: u16,
    pub(crate) requests: &'a CpuRequests,
    /// The node of the last request that needed a look, and the zones that are first there.
    node: u16,
    first_zones: FirstZones,
    /// The number of the zone that a block was freed to last.
    pub(crate) recent: usize,
    /// By the number of the zone.
    pub(crate) held: [Option<Held<'a, 'm, L>>; MOST_ZONES],
}

/// Whether somebody else may free the same block at the same instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rivals {
    None,
    Possible,
}

/// One zone's lists of the owner's CPU.
pub(crate) struct Held<'a, 'm, L: Locks> {
    pub(crate) zone: &'a Zone<'m, L>,
    pub(crate) lists: MutexGuard<'a, L::PerCpu, PerCpuLists<'m>>,
}

impl<'m, L: Locks> Memory<'m, L> {
    /// Holds a CPU's lists for one owner; waits until nobody else does.
    ///
    /// `None` for an absent CPU.
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
        for (slot, zone) in self.held.iter_mut().zip(memory.zones) {
            *slot = Some(Held { zone, lists: zone.percpu[usize::from(self.cpu)].lock() });
        }
    }

    fn let_go(&mut self) {
        self.held = [const { None }; MOST_ZONES];
    }

    /// Answers a request of this CPU, whatever CPU it names.
    ///
    /// The same as [`Memory::alloc`] answers.
    ///
    /// # Errors
    /// See [`AllocError`].
    #[inline]
    pub fn alloc(&mut self, request: Request) -> Result<Pfn, AllocError> {
        match self.alloc_at_hand(request) {
            Some(pfn) => Ok(pfn),
            None => self.alloc_with_a_look(request),
        }
    }

    #[expect(clippy::inline_always, reason = "a call would cost as much as half of what it does")]
    #[inline(always)]
    fn alloc_at_hand(&mut self, request: Request) -> Option<Pfn> {
        let first = self.first_zones[request.gfp.highest_zone() as usize];
        let held = self.held.get_mut(usize::from(first))?.as_mut()?;
        if request.node != self.node || request.order > Order::COSTLY || !held.zone.has_plenty(request.order)
        {
            return None;
        }
        let index = held.lists.take_at_hand(request.gfp.migratetype(), request.order)?;
        Some(held.zone.hand_out(index, request, self.requests))
    }

    #[cold]
    fn alloc_with_a_look(&mut self, request: Request) -> Result<Pfn, AllocError> {
        if let Some(&first_zones) = self.memory.first_zones.get(usize::from(request.node)) {
            (self.node, self.first_zones) = (request.node, first_zones);
        }
        if let Some(pfn) = self.alloc_held(request) {
            return Ok(pfn);
        }
        if self.memory.refuses_at_once(&request, self.requests) {
            return Err(AllocError::NoMemory);
        }
        self.let_go();
        let answer = self.memory.alloc(Request { cpu: self.cpu, ..request });
        self.hold();
        answer
    }

    /// Answers where nothing can stand in the way, without giving the lists up.
    #[inline]
    fn alloc_held(&mut self, request: Request) -> Option<Pfn> {
        let held = self.held.get_mut(self.memory.first_zone(request)?)?.as_mut()?;
        if !held.zone.has_plenty(request.order) {
            return None;
        }
        if !held.zone.has_percpu_list(request.order) {
            return held.zone.take_past_lists(request, self.requests);
        }
        held.zone.take_by_list(&mut held.lists, request, self.requests)
    }

    /// Takes back a block.
    ///
    /// The same as [`Memory::free`] does.
    ///
    /// # Errors
    /// See [`FreeError`]; nothing has changed then.
    #[inline]
    pub fn free(&mut self, pfn: Pfn, order: Order) -> Result<(), FreeError> {
        if order == Order::ZERO && self.free_at_hand(pfn).is_some() {
            return Ok(());
        }
        self.free_with_a_look(pfn, order)
    }

    #[expect(clippy::inline_always, reason = "a call would cost as much as half of what it does")]
    #[inline(always)]
    fn free_at_hand(&mut self, pfn: Pfn) -> Option<()> {
        self.held[self.recent % MOST_ZONES].as_mut()?.free_at_hand(pfn, Rivals::None)
    }

    /// The same for a page whose owner may have a rival.
    #[inline]
    pub(crate) fn free_owned_at_hand(&mut self, pfn: Pfn) -> Option<()> {
        self.held[self.recent % MOST_ZONES].as_mut()?.free_at_hand(pfn, Rivals::Possible)
    }

    #[cold]
    fn free_with_a_look(&mut self, pfn: Pfn, order: Order) -> Result<(), FreeError> {
        if let Some((held, index)) = self.holder(pfn)
            && held.zone.frames.word(index).is_owned_of(order)
            && let block_type = held.zone.blocks.get(index)
        {
            if !held.zone.has_percpu_list(order) {
                held.zone.reclaim_ownership(index, order)?;
                held.zone.lock().free_direct(index, order, block_type);
                return Ok(());
            }
            if block_type != Migratetype::Isolate {
                held.zone.put_held(&mut held.lists, index, order, block_type);
                return Ok(());
            }
        }
        self.free_with_locks(pfn, order)
    }

    /// Takes back a single page whose owner may have a rival: of two that free the same page
    /// at once, one gets an error.
    pub(crate) fn free_owned(&mut self, pfn: Pfn) -> Result<(), FreeError> {
        let Some((held, index)) = self.holder(pfn) else { return self.free_with_locks(pfn, Order::ZERO) };
        let block_type = held.zone.blocks.get(index);
        if block_type == Migratetype::Isolate {
            return self.free_with_locks(pfn, Order::ZERO);
        }
        held.zone.reclaim_ownership(index, Order::ZERO)?;
        held.zone.put_held(&mut held.lists, index, Order::ZERO, block_type);
        Ok(())
    }

    /// The held lists of a frame's zone, and the frame's place there.
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

impl<L: Locks> Held<'_, '_, L> {
    /// Puts a page at hand, if nothing has to be looked at; `None` and nothing done otherwise.
    #[expect(clippy::inline_always, reason = "a call would cost as much as half of what it does")]
    #[inline(always)]
    pub(crate) fn free_at_hand(&mut self, pfn: Pfn, rivals: Rivals) -> Option<()> {
        let (zone, lists) = (self.zone, &mut *self.lists);
        let (index, frame) = zone.frames.find(pfn)?;
        let word = frame.word();
        let calm = zone.has_plenty(Order::ZERO)
            && lists.has_room_for_page()
            && zone.blocks.is_of(index, lists.freed_type);
        if !calm || !word.is_owned_of(Order::ZERO) {
            return None;
        }
        match rivals {
            Rivals::None => frame.set_word(word.given_back()),
            Rivals::Possible if frame.replace_owned::<L>(word, word.given_back()) => {}
            Rivals::Possible => return None,
        }
        lists.put_page_at_hand(index);
        Some(())
    }
}

impl<L: Locks> Zone<'_, L> {
    /// Puts a block on lists that the caller holds for good, and gives back what is too much.
    fn put_held(
        &self,
        lists: &mut PerCpuLists<'_>,
        index: FrameIndex,
        order: Order,
        block_type: Migratetype,
    ) {
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
