//! The engine's handles as a harness wants them: many blocks at once, and free pages given back.

use freehold::{Exclusive, GfpFlags, Locks, Memory, Order, Pfn, Request};

use crate::harness::Pages;

/// A request that fails at once, as the peers do: nobody's lists are given back for it.
fn request(cpu: u16, order: Order) -> Request {
    Request { cpu, node: 0, order, gfp: GfpFlags::HIGHUSER_MOVABLE.difference(GfpFlags::RECLAIM) }
}

/// One CPU's lists in one owner's hands.
pub struct OwnedHandle<'a, 'm, L: Locks> {
    memory: &'a Memory<'m, L>,
    cpu: u16,
    /// Always there, but while pages are given back.
    lists: Option<Exclusive<'a, 'm, L>>,
    /// Blocks on their way back, as [`Exclusive::free_many`] wants them.
    freed: Vec<Pfn>,
}

impl<'a, 'm, L: Locks> OwnedHandle<'a, 'm, L> {
    /// Holds a CPU's lists until this is dropped.
    pub fn new(memory: &'a Memory<'m, L>, cpu: u16) -> Self {
        Self { memory, cpu, lists: memory.exclusive(cpu), freed: Vec::new() }
    }
}

impl<L: Locks> Pages for OwnedHandle<'_, '_, L> {
    #[inline]
    fn alloc(&mut self, order: Order) -> Option<Pfn> {
        self.lists.as_mut()?.alloc(request(self.cpu, order)).ok()
    }

    #[inline]
    fn free(&mut self, pfn: Pfn, order: Order) -> bool {
        self.lists.as_mut().is_some_and(|lists| lists.free(pfn, order).is_ok())
    }

    fn give_back(&mut self) {
        self.lists = None;
        self.memory.zones()[0].drain_cpu(self.cpu);
        self.lists = self.memory.exclusive(self.cpu);
    }

    fn alloc_many(&mut self, order: Order, places: &mut [Option<Pfn>]) -> usize {
        let request = request(self.cpu, order);
        self.lists.as_mut().map_or(0, |lists| lists.alloc_many(request, places))
    }

    fn free_many(&mut self, order: Order, places: &mut [Option<Pfn>]) -> bool {
        self.freed.clear();
        self.freed.extend(places.iter_mut().filter_map(Option::take));
        self.lists.as_mut().is_some_and(|lists| lists.free_many(order, &self.freed).is_ok())
    }
}

/// The memory behind its locks.
pub struct LockedHandle<'a, 'm, L: Locks> {
    memory: &'a Memory<'m, L>,
    cpu: u16,
    /// Single pages on their way back, as [`Memory::free_bulk`] wants them.
    freed: Vec<Pfn>,
}

impl<'a, 'm, L: Locks> LockedHandle<'a, 'm, L> {
    /// Takes the lock of a CPU's lists for each call.
    pub fn new(memory: &'a Memory<'m, L>, cpu: u16) -> Self {
        Self { memory, cpu, freed: Vec::new() }
    }
}

impl<L: Locks> Pages for LockedHandle<'_, '_, L> {
    #[inline]
    fn alloc(&mut self, order: Order) -> Option<Pfn> {
        self.memory.alloc(request(self.cpu, order)).ok()
    }

    #[inline]
    fn free(&mut self, pfn: Pfn, order: Order) -> bool {
        self.memory.free(self.cpu, pfn, order).is_ok()
    }

    fn give_back(&mut self) {
        self.memory.zones()[0].drain_cpu(self.cpu);
    }

    fn alloc_many(&mut self, order: Order, places: &mut [Option<Pfn>]) -> usize {
        let request = request(self.cpu, order);
        let mut filled = if order == Order::ZERO { self.memory.alloc_bulk(request, places) } else { 0 };
        while let Some(place) = places.get_mut(filled)
            && let Ok(pfn) = self.memory.alloc(request)
        {
            *place = Some(pfn);
            filled += 1;
        }
        filled
    }

    fn free_many(&mut self, order: Order, places: &mut [Option<Pfn>]) -> bool {
        let blocks = places.iter_mut().filter_map(Option::take);
        if order == Order::ZERO {
            self.freed.clear();
            self.freed.extend(blocks);
            return self.memory.free_bulk(self.cpu, &self.freed).is_ok();
        }
        let (memory, cpu) = (self.memory, self.cpu);
        blocks.fold(true, |all, pfn| all & memory.free(cpu, pfn, order).is_ok())
    }
}
