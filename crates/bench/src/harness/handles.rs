//! The engine's handles as a harness wants them: many blocks at once, and free pages given back.

use freehold::{Exclusive, GfpFlags, Locks, Memory, Order, Pfn, Request};

use super::pages::Pages;

/// How blocks are asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Handle {
    Locked,
    Exclusive,
}

impl Handle {
    pub(crate) const ALL: [Self; 2] = [Self::Locked, Self::Exclusive];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Locked => "locked",
            Self::Exclusive => "exclusive",
        }
    }
}

/// Returns a request of a user for movable pages. One that does not reclaim fails at once, as the peers do: nobody's lists are
/// given back for it.
#[inline]
fn request(cpu: u16, order: Order, reclaims: bool) -> Request {
    let gfp = GfpFlags::HIGHUSER_MOVABLE;
    Request { cpu, node: 0, order, gfp: if reclaims { gfp } else { gfp.difference(GfpFlags::RECLAIM) } }
}

/// One CPU's lists in one owner's hands.
pub struct OwnedHandle<'a, 'm, L: Locks, const RECLAIMS: bool = false> {
    memory: &'a Memory<'m, L>,
    cpu: u16,
    /// Always there, but while pages are given back.
    lists: Option<Exclusive<'a, 'm, L>>,
    /// Blocks on their way back, as [`Exclusive::free_many`] wants them.
    freed: Vec<Pfn>,
}

impl<'a, 'm, L: Locks> OwnedHandle<'a, 'm, L> {
    /// Holds a CPU's lists until this is dropped; requests fail at once.
    pub fn new(memory: &'a Memory<'m, L>, cpu: u16) -> Self {
        Self::of(memory, cpu)
    }
}

impl<'a, 'm, L: Locks> OwnedHandle<'a, 'm, L, true> {
    /// Holds a CPU's lists until this is dropped; requests have everybody's lists given back before they fail.
    pub(crate) fn reclaiming(memory: &'a Memory<'m, L>, cpu: u16) -> Self {
        Self::of(memory, cpu)
    }
}

impl<'a, 'm, L: Locks, const RECLAIMS: bool> OwnedHandle<'a, 'm, L, RECLAIMS> {
    fn of(memory: &'a Memory<'m, L>, cpu: u16) -> Self {
        Self { memory, cpu, lists: memory.exclusive(cpu), freed: Vec::new() }
    }
}

impl<L: Locks, const RECLAIMS: bool> Pages for OwnedHandle<'_, '_, L, RECLAIMS> {
    #[inline]
    fn alloc(&mut self, order: Order) -> Option<Pfn> {
        self.lists.as_mut()?.alloc(request(self.cpu, order, RECLAIMS)).ok()
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
        let request = request(self.cpu, order, RECLAIMS);
        self.lists.as_mut().map_or(0, |lists| lists.alloc_many(request, places))
    }

    fn free_many(&mut self, order: Order, places: &mut [Option<Pfn>]) -> bool {
        self.freed.clear();
        self.freed.extend(places.iter_mut().filter_map(Option::take));
        self.lists.as_mut().is_some_and(|lists| lists.free_many(order, &self.freed).is_ok())
    }
}

/// The memory behind its locks.
pub struct LockedHandle<'a, 'm, L: Locks, const RECLAIMS: bool = false> {
    memory: &'a Memory<'m, L>,
    cpu: u16,
    /// Single pages on their way back, as [`Memory::free_bulk`] wants them.
    freed: Vec<Pfn>,
}

impl<'a, 'm, L: Locks> LockedHandle<'a, 'm, L> {
    /// Takes the lock of a CPU's lists for each call; requests fail at once.
    pub fn new(memory: &'a Memory<'m, L>, cpu: u16) -> Self {
        Self { memory, cpu, freed: Vec::new() }
    }
}

impl<'a, 'm, L: Locks> LockedHandle<'a, 'm, L, true> {
    /// Takes the lock of a CPU's lists for each call; requests have everybody's lists given back before they fail.
    pub(crate) fn reclaiming(memory: &'a Memory<'m, L>, cpu: u16) -> Self {
        Self { memory, cpu, freed: Vec::new() }
    }
}

impl<L: Locks, const RECLAIMS: bool> Pages for LockedHandle<'_, '_, L, RECLAIMS> {
    #[inline]
    fn alloc(&mut self, order: Order) -> Option<Pfn> {
        self.memory.alloc(request(self.cpu, order, RECLAIMS)).ok()
    }

    #[inline]
    fn free(&mut self, pfn: Pfn, order: Order) -> bool {
        self.memory.free(self.cpu, pfn, order).is_ok()
    }

    fn give_back(&mut self) {
        self.memory.zones()[0].drain_cpu(self.cpu);
    }

    fn alloc_many(&mut self, order: Order, places: &mut [Option<Pfn>]) -> usize {
        let request = request(self.cpu, order, RECLAIMS);
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

/// A side whose blocks are handed out and taken back one by one, whatever calls it has for many at once.
pub(crate) struct OneByOne<P>(pub(crate) P);

impl<P: Pages> Pages for OneByOne<P> {
    #[inline]
    fn alloc(&mut self, order: Order) -> Option<Pfn> {
        self.0.alloc(order)
    }

    #[inline]
    fn free(&mut self, pfn: Pfn, order: Order) -> bool {
        self.0.free(pfn, order)
    }

    fn give_back(&mut self) {
        self.0.give_back();
    }
}
