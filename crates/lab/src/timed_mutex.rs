//! The locks of a replay: one that notes how long it was held and waited for, and one for a memory
//! that no other thread sees.
//!
//! The one island of unsafe code in this crate.
#![expect(unsafe_code, reason = "RawMutex is an unsafe trait")]

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use freehold::OwnersFreeOnce;
use lock_api::{GuardNoSend, RawMutex};

use crate::hold_log;
use crate::watch::Watch;

/// A mutex that notes in its thread's [`hold_log`] how long it was held and waited for.
pub struct TimedMutex<R = parking_lot::RawMutex> {
    inner: R,
    /// When it was taken, by [`hold_log::now_ns`]. Written and read by the holder only.
    taken_ns: AtomicU64,
}

/// Locks of which the zone lock is timed, the per-CPU locks are not.
pub type TimedLocks = (TimedMutex, parking_lot::RawMutex);

/// The locks of a replay, which one thread drives: holds of the zone lock are timed, and each of them and each
/// fallback is noted. An atomic step for every page would be a fifth of a replay's time.
pub(crate) type ReplayLocks = OwnersFreeOnce<(TimedMutex<OneThread>, OneThread, Watch)>;

/// A mutex of values that only one thread sees: it is not `Sync`.
pub(crate) struct OneThread {
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

// SAFETY: every method hands on to the inner `RawMutex`, which excludes other holders; the
// time is noted between its `lock` and `unlock`, by the holder.
unsafe impl<R: RawMutex> RawMutex for TimedMutex<R> {
    #[allow(clippy::declare_interior_mutable_const, reason = "the trait asks for it")]
    const INIT: Self = Self { inner: R::INIT, taken_ns: AtomicU64::new(0) };

    type GuardMarker = R::GuardMarker;

    fn lock(&self) {
        if !self.inner.try_lock() {
            let since_ns = hold_log::now_ns();
            self.inner.lock();
            hold_log::note_wait_since(since_ns);
        }
        self.taken_ns.store(hold_log::now_ns(), Ordering::Relaxed);
    }

    fn try_lock(&self) -> bool {
        let taken = self.inner.try_lock();
        if taken {
            self.taken_ns.store(hold_log::now_ns(), Ordering::Relaxed);
        }
        taken
    }

    unsafe fn unlock(&self) {
        hold_log::note_since(self.taken_ns.load(Ordering::Relaxed));
        // SAFETY: the caller holds this mutex and thereby the inner one.
        unsafe { self.inner.unlock() }
    }

    fn is_locked(&self) -> bool {
        self.inner.is_locked()
    }
}
