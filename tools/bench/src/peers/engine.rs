//! The engine's handles, and two lower bounds: a stack without a lock and with one.

use std::mem::MaybeUninit;
use std::sync::Arc;

use freehold::{Era, Memory, Order, OwnersFreeOnce, Pfn, Platform};

use super::peer::Peer;
use crate::error::BenchError;
use crate::harness::{LockedHandle, OwnedHandle, Pages, START, Setup, SpinPlatform};

/// The index of freehold's exclusive and locked handles among the peers.
pub(super) const EXCLUSIVE: usize = 2;
pub(super) const LOCKED: usize = 3;

/// Returns the lower bounds and the engine's handles.
pub(super) fn peers() -> Vec<Peer> {
    let pages = 1 << 20;
    let bytes = setup(pages).metadata::<SpinPlatform>().len() as f64 / pages as f64;
    vec![
        Peer::new("stack", Some(8.0), 0, |pages| Ok(vec![Stack::new(pages)])),
        Peer::new("stack, spin lock", Some(8.0), 0, |pages| {
            let stack = Arc::new(spin::Mutex::new(Stack::new(pages)));
            Ok(vec![LockedStack(Arc::clone(&stack)), LockedStack(stack)])
        }),
        Peer::new("freehold, exclusive, owners free once", Some(bytes), 10, owned),
        Peer::new("freehold, locked", Some(bytes), 10, locked::<SpinPlatform>),
        Peer::new("freehold, locked, owners free once", Some(bytes), 10, locked::<OwnersOnce>),
    ]
}

type OwnersOnce = OwnersFreeOnce<SpinPlatform>;

fn owned(pages: u64) -> Result<Vec<OwnedHandle<'static, 'static, OwnersOnce>>, BenchError> {
    let memory = leaked(pages)?;
    Ok((0..2).map(|cpu| OwnedHandle::new(memory, cpu)).collect())
}

fn locked<P: Platform<Tracepoints = (), Rule = ()> + 'static>(
    pages: u64,
) -> Result<Vec<LockedHandle<'static, 'static, P>>, BenchError> {
    let memory = leaked(pages)?;
    Ok((0..2).map(|cpu| LockedHandle::new(memory, cpu)).collect())
}

fn setup(pages: u64) -> Setup {
    Setup::new(pages, 2, Era::Freehold.switches())
}

/// Returns a machine that is never freed: about twelve megabytes for each shape.
fn leaked<P: Platform<Tracepoints = (), Rule = ()> + 'static>(
    pages: u64,
) -> Result<&'static Memory<'static, P>, BenchError> {
    let metadata: &'static mut [MaybeUninit<u8>] = setup(pages).metadata::<P>().leak();
    let memory: &'static Memory<'static, P> = Box::leak(Box::new(setup(pages).memory(metadata)?));
    memory.zones()[0].add_free(START, pages)?;
    Ok(memory)
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

/// Single pages on a stack behind a lock.
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
