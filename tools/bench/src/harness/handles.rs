//! The engine's handles as sides of a benchmark: many blocks at once, and per-CPU pages given back.

use freehold::{Exclusive, GfpFlags, Memory, NoReclaim, Order, Pfn, Platform, Request};

use super::pages::Pages;

/// The interface for requests.
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

/// Returns a user's request for movable pages. Without `reclaims` it fails at once, as the peers do:
/// per-CPU lists are not drained for it.
#[inline]
fn request(cpu: u16, order: Order, reclaims: bool) -> Request {
    let gfp = GfpFlags::HIGHUSER_MOVABLE;
    Request { cpu, node: 0, order, gfp: if reclaims { gfp } else { gfp.difference(GfpFlags::RECLAIM) } }
}

/// An owner's requests to one CPU's lists.
pub struct OwnedHandle<'a, 'm, P: Platform, const RECLAIMS: bool = false> {
    memory: &'a Memory<'m, P>,
    cpu: u16,
    /// `None` only while pages are given back.
    lists: Option<Exclusive<'a, 'm, P>>,
    /// Blocks to free, as [`Exclusive::free_batch`] takes them.
    freed: Vec<Pfn>,
}

impl<'a, 'm, P: Platform> OwnedHandle<'a, 'm, P> {
    /// Owns a CPU's lists until it is dropped. Requests fail at once.
    pub fn new(memory: &'a Memory<'m, P>, cpu: u16) -> Self {
        Self::of(memory, cpu)
    }
}

impl<'a, 'm, P: Platform> OwnedHandle<'a, 'm, P, true> {
    /// Owns a CPU's lists until it is dropped. Requests drain all CPUs' lists before they fail.
    pub(crate) fn reclaiming(memory: &'a Memory<'m, P>, cpu: u16) -> Self {
        Self::of(memory, cpu)
    }
}

impl<'a, 'm, P: Platform, const RECLAIMS: bool> OwnedHandle<'a, 'm, P, RECLAIMS> {
    fn of(memory: &'a Memory<'m, P>, cpu: u16) -> Self {
        Self { memory, cpu, lists: memory.exclusive(cpu), freed: Vec::new() }
    }
}

impl<P: Platform, const RECLAIMS: bool> Pages for OwnedHandle<'_, '_, P, RECLAIMS> {
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

    fn alloc_batch(&mut self, order: Order, places: &mut [Option<Pfn>]) -> usize {
        let request = request(self.cpu, order, RECLAIMS);
        self.lists.as_mut().map_or(0, |lists| lists.alloc_batch(request, places))
    }

    fn free_batch(&mut self, order: Order, places: &mut [Option<Pfn>]) -> bool {
        self.freed.clear();
        self.freed.extend(places.iter_mut().filter_map(Option::take));
        self.lists.as_mut().is_some_and(|lists| lists.free_batch(order, &self.freed).is_ok())
    }
}

/// Requests that take the locks.
pub struct LockedHandle<'a, 'm, P: Platform, const RECLAIMS: bool = false> {
    memory: &'a Memory<'m, P>,
    cpu: u16,
    /// Single pages to free, as [`Memory::free_bulk`] takes them.
    freed: Vec<Pfn>,
}

impl<'a, 'm, P: Platform> LockedHandle<'a, 'm, P> {
    /// Takes the lock of a CPU's lists for each call. Requests fail at once.
    pub fn new(memory: &'a Memory<'m, P>, cpu: u16) -> Self {
        Self { memory, cpu, freed: Vec::new() }
    }
}

impl<'a, 'm, P: Platform> LockedHandle<'a, 'm, P, true> {
    /// Takes the lock of a CPU's lists for each call. Requests drain all CPUs' lists before they
    /// fail.
    pub(crate) fn reclaiming(memory: &'a Memory<'m, P>, cpu: u16) -> Self {
        Self { memory, cpu, freed: Vec::new() }
    }
}

impl<P: Platform, const RECLAIMS: bool> Pages for LockedHandle<'_, '_, P, RECLAIMS> {
    #[inline]
    fn alloc(&mut self, order: Order) -> Option<Pfn> {
        self.memory.alloc(request(self.cpu, order, RECLAIMS), NoReclaim).ok()
    }

    #[inline]
    fn free(&mut self, pfn: Pfn, order: Order) -> bool {
        self.memory.free(self.cpu, pfn, order).is_ok()
    }

    fn give_back(&mut self) {
        self.memory.zones()[0].drain_cpu(self.cpu);
    }

    fn alloc_batch(&mut self, order: Order, places: &mut [Option<Pfn>]) -> usize {
        let request = request(self.cpu, order, RECLAIMS);
        let mut filled = if order == Order::ZERO { self.memory.alloc_bulk(request, places) } else { 0 };
        while let Some(place) = places.get_mut(filled)
            && let Ok(pfn) = self.memory.alloc(request, NoReclaim)
        {
            *place = Some(pfn);
            filled += 1;
        }
        filled
    }

    fn free_batch(&mut self, order: Order, places: &mut [Option<Pfn>]) -> bool {
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

/// A side that allocates and frees blocks one by one, even if it could handle many at once.
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
