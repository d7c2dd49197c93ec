//! The lock of a replay, which runs on one thread.
//!
//! The one island of unsafe code in this crate.
#![expect(unsafe_code, reason = "RawMutex is an unsafe trait")]

use std::cell::Cell;

use lock_api::{GuardNoSend, RawMutex};

/// A mutex for values that only one thread sees: it is not `Sync`. Atomic steps would take a fifth of a replay's
/// time.
pub(super) struct OneThread {
    is_locked: Cell<bool>,
}

// SAFETY: whoever shares it is on the same thread, so nothing comes between the look at the flag and its change; a
// second holder is refused by `try_lock`, and by `lock`, which could only wait for ever, with a panic.
unsafe impl RawMutex for OneThread {
    #[allow(clippy::declare_interior_mutable_const, reason = "the trait asks for it")]
    const INIT: Self = Self { is_locked: Cell::new(false) };

    type GuardMarker = GuardNoSend;

    #[inline]
    fn lock(&self) {
        assert!(self.try_lock(), "a lock that its own thread holds");
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
