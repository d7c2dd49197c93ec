//! The guard of the zone lock. A function that needs the lock is a method of this guard.

use lock_api::{Mutex, MutexGuard};

use super::state::{LockedState, Zone};
use crate::table::sync::Ordering;
use crate::types::{Platform, Tracepoints};

/// The guard of a zone's lock. The lock is held while the guard exists.
///
/// When the guard is dropped, the numbers of free pages become visible to readers without the lock.
pub(crate) struct ZoneGuard<'z, 'm, P: Platform> {
    pub(crate) zone: &'z Zone<'m, P>,
    pub(crate) state: MutexGuard<'z, P::ZoneLock, LockedState>,
    touched: u64,
    since: <P::Tracepoints as Tracepoints>::Since,
}

impl<'m, P: Platform> Zone<'m, P> {
    pub(crate) fn lock(&self) -> ZoneGuard<'_, 'm, P> {
        ZoneGuard::acquire(self, &self.state)
    }
}

impl<'z, 'm, P: Platform> ZoneGuard<'z, 'm, P> {
    /// Takes the lock of a zone. Reports a wait for the lock if [`Tracepoints::WATCHES_CONTENTION`] is true.
    fn acquire(zone: &'z Zone<'m, P>, lock: &'z Mutex<P::ZoneLock, LockedState>) -> Self {
        let uncontended =
            if P::Tracepoints::WATCHES_CONTENTION { lock.try_lock() } else { Some(lock.lock()) };
        let state = uncontended.unwrap_or_else(|| {
            let since = zone.tracepoints.contention_begin();
            let state = lock.lock();
            zone.tracepoints.contention_end(since);
            state
        });
        let since = zone.tracepoints.zone_lock_acquired();
        if zone.switches.counts {
            zone.counts.begin();
        }
        Self { zone, state, touched: 0, since }
    }

    /// Notes that this hold read or moved `frames` more frames or blocks.
    pub(crate) fn touch(&mut self, frames: u64) {
        self.touched += frames;
    }
}

impl<P: Platform> ZoneGuard<'_, '_, P> {
    /// Makes the numbers of free pages visible to readers without the lock. Most holds change only the first number.
    #[inline]
    fn publish(&self) {
        let (shared, state) = (&self.zone.shared, &self.state);
        shared.free_pages.store(state.free_pages, Ordering::Relaxed);
        let kept = (state.free_cma, state.free_highatomic, state.reserved_highatomic);
        if kept != shared.kept() {
            shared.free_cma.store(state.free_cma, Ordering::Relaxed);
            shared.free_highatomic.store(state.free_highatomic, Ordering::Relaxed);
            shared.reserved_highatomic.store(state.reserved_highatomic, Ordering::Relaxed);
        }
        let plenty = self.zone.plenty(state);
        if plenty != shared.plenty.load(Ordering::Relaxed) {
            self.zone.publish_plenty(plenty);
        }
    }
}

impl<P: Platform> Drop for ZoneGuard<'_, '_, P> {
    fn drop(&mut self) {
        let touched = self.touched;
        let stats = &mut self.state.stats;
        stats.lock_holds += 1;
        stats.longest_hold_touched = stats.longest_hold_touched.max(touched);
        self.publish();
        if self.zone.switches.counts {
            self.zone.counts.end();
        }
        self.zone.tracepoints.zone_lock_release(self.since, touched);
    }
}
