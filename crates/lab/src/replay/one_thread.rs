//! The lock of a replay, which runs on one thread.
//!
//! The only unsafe code in this crate.
#![expect(unsafe_code, reason = "RawMutex is an unsafe trait")]

use std::cell::Cell;

use lock_api::{GuardNoSend, RawMutex};

/// A mutex for values of a single thread: it is not `Sync`. Atomic operations would take a fifth of the time of a
/// replay.
pub(super) struct OneThread {
    is_locked: Cell<bool>,
}

// SAFETY: all references are on one thread, so nothing can run between the read of the flag and its change. A second
// lock fails in `try_lock`, and panics in `lock`, which otherwise would wait forever.
unsafe impl RawMutex for OneThread {
    #[allow(clippy::declare_interior_mutable_const, reason = "the trait requires it")]
    const INIT: Self = Self { is_locked: Cell::new(false) };

    type GuardMarker = GuardNoSend;

    #[inline]
    fn lock(&self) {
        assert!(self.try_lock(), "a lock that its own thread has locked already");
    }

    #[inline]
    fn try_lock(&self) -> bool {
        !self.is_locked.replace(true)
    }

    #[inline]
    unsafe fn unlock(&self) {
        self.is_locked.set(false);
    }

    #[inline]
    fn is_locked(&self) -> bool {
        self.is_locked.get()
    }
}
