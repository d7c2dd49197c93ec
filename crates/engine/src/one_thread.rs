//! A lock for memory that one thread uses: nothing atomic at all.
#![expect(unsafe_code, reason = "promises that the lock excludes: it cannot leave its thread")]

use core::cell::Cell;

use lock_api::{GuardNoSend, RawMutex};

use crate::Locks;

/// The locks of memory that one thread has for itself: a boot loader, a hypervisor before
/// its other processors start, a simulator.
///
/// Memory with these locks cannot be shared between threads, and the compiler sees to that.
///
/// # Panics
/// Where a lock is waited for that its own thread holds: a request in the name of a CPU whose
/// lists an [`crate::Exclusive`] holds takes them only if they are free, but giving them back
/// ([`crate::Memory::drain_all`]) would wait for ever.
#[derive(Debug)]
pub struct OneThread {
    held: Cell<bool>,
}

// SAFETY: only one thread can reach the lock, because `Cell` is not `Sync`; on that thread
// `held` is true exactly from a successful `try_lock` or `lock` to `unlock`.
unsafe impl RawMutex for OneThread {
    #[expect(clippy::declare_interior_mutable_const, reason = "the trait asks for it")]
    const INIT: Self = Self { held: Cell::new(false) };
    type GuardMarker = GuardNoSend;

    #[inline]
    fn lock(&self) {
        assert!(self.try_lock(), "a thread waits for a lock that it holds itself");
    }

    #[inline]
    fn try_lock(&self) -> bool {
        !self.held.replace(true)
    }

    #[inline]
    unsafe fn unlock(&self) {
        self.held.set(false);
    }
}

impl Locks for OneThread {
    type Zone = Self;
    type PerCpu = Self;
    type Tracepoints = ();
    const TELLS_RACING_FREES_APART: bool = false;
}
