//! The engine's handles, and the two floors: nothing can be faster than a stack.

use std::mem::MaybeUninit;
use std::sync::Arc;

use freehold::{Era, Exclusive, GfpFlags, Locks, Memory, Order, OwnersFreeOnce, Pfn, Request};

use super::Peer;
use crate::BenchError;
use crate::harness::Pages;
use crate::setup::{START, Setup, SpinLocks};

/// Where freehold's locked handle is among the peers.
pub(super) const LOCKED: usize = 3;

/// The floors and the engine.
pub(super) fn peers() -> Vec<Peer> {
    let pages = 1 << 20;
    let bytes = setup(pages).metadata::<SpinLocks>().len() as f64 / pages as f64;
    vec![
        Peer::new("stack", Some(8.0), 0, |pages| Ok(vec![Stack::new(pages)])),
        Peer::new("stack, spin lock", Some(8.0), 0, |pages| {
            let stack = Arc::new(spin::Mutex::new(Stack::new(pages)));
            Ok(vec![LockedStack(Arc::clone(&stack)), LockedStack(stack)])
        }),
        Peer::new("freehold, exclusive", Some(bytes), 10, owned),
        Peer::new("freehold, locked", Some(bytes), 10, locked::<SpinLocks>),
        Peer::new("freehold, locked, owners free once", Some(bytes), 10, locked::<OwnersFreeOnce<SpinLocks>>),
    ]
}

fn owned(pages: u64) -> Result<Vec<Owned>, BenchError> {
    let memory = leaked(pages)?;
    let owner = |cpu| Owned { memory, cpu, lists: memory.exclusive(cpu), freed: Vec::new() };
    Ok((0..2).map(owner).collect())
}

fn locked<L: Locks + 'static>(pages: u64) -> Result<Vec<Locked<L>>, BenchError> {
    let memory = leaked(pages)?;
    Ok((0..2).map(|cpu| Locked { memory, cpu, freed: Vec::new() }).collect())
}

fn setup(pages: u64) -> Setup {
    Setup::new(pages, 2, Era::Freehold.switches())
}

/// A machine that lives as long as the program: some twelve megabytes a shape.
fn leaked<L: Locks + 'static>(pages: u64) -> Result<&'static Memory<'static, L>, BenchError> {
    let metadata: &'static mut [MaybeUninit<u8>] = setup(pages).metadata::<L>().leak();
    let memory: &'static Memory<'static, L> = Box::leak(Box::new(setup(pages).memory(metadata)?));
    memory.zones()[0].add_free(START, pages)?;
    Ok(memory)
}

/// A request that fails at once, as the peers do: nobody's lists are given back for it.
fn request(cpu: u16, order: Order) -> Request {
    Request { cpu, node: 0, order, gfp: GfpFlags::HIGHUSER_MOVABLE.difference(GfpFlags::RECLAIM) }
}

/// One CPU's lists in one owner's hands.
struct Owned {
    memory: &'static Memory<'static, SpinLocks>,
    cpu: u16,
    /// Always there, but while pages are given back.
    lists: Option<Exclusive<'static, 'static, SpinLocks>>,
    /// Blocks on their way back, as [`Exclusive::free_many`] wants them.
    freed: Vec<Pfn>,
}

impl Pages for Owned {
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
struct Locked<L: Locks + 'static> {
    memory: &'static Memory<'static, L>,
    cpu: u16,
    /// Single pages on their way back, as [`Memory::free_bulk`] wants them.
    freed: Vec<Pfn>,
}

impl<L: Locks> Pages for Locked<L> {
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

/// Single pages on a stack.
struct Stack(Vec<Pfn>);

impl Stack {
    fn new(pages: u64) -> Self {
        Self((0..pages).rev().map(|page| START.add(page)).collect())
    }
}

impl Pages for Stack {
    #[inline]
    fn alloc(&mut self, _order: Order) -> Option<Pfn> {
        self.0.pop()
    }

    #[inline]
    fn free(&mut self, pfn: Pfn, _order: Order) -> bool {
        self.0.push(pfn);
        true
    }
}

/// The same behind a lock.
struct LockedStack(Arc<spin::Mutex<Stack>>);

impl Pages for LockedStack {
    #[inline]
    fn alloc(&mut self, order: Order) -> Option<Pfn> {
        self.0.lock().alloc(order)
    }

    #[inline]
    fn free(&mut self, pfn: Pfn, order: Order) -> bool {
        self.0.lock().free(pfn, order)
    }
}
