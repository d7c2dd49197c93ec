//! A mutex that notes how long it was held, and how long it was waited for.
//!
//! The one island of unsafe code in this crate.
#![expect(unsafe_code, reason = "RawMutex is an unsafe trait")]

use std::sync::atomic::{AtomicU64, Ordering};

use lock_api::RawMutex;

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

/// The locks of a replay: [`TimedLocks`] of which each fallback and each hold is noted.
pub(crate) type ReplayLocks = (TimedMutex, parking_lot::RawMutex, Watch);

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
