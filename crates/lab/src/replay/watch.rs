//! What the engine's tracepoints tell of a replay.

use std::cell::RefCell;

use freehold::{ExtFrag, OwnersFreeOnce, Tracepoints};
use freehold_measure::HoldTimer;
use freehold_measure::histogram::{ByPowerOfTwo, power_of_two};

use super::one_thread::OneThread;
use crate::recorded::{FallbackCount, Fallbacks};

/// The locks of a replay; a [`Watch`] notes holds of the zone lock and fallbacks.
pub(super) type ReplayLocks = OwnersFreeOnce<(OneThread, OneThread, Watch)>;

/// Notes holds of the zone lock and fallbacks while its timer is on.
#[derive(Debug, Default)]
pub(super) struct Watch {
    pub(super) timer: HoldTimer,
    fallbacks: RefCell<Fallbacks>,
    /// Holds of the zone lock, by the pages and list nodes that each touched.
    touched: RefCell<ByPowerOfTwo>,
}

impl Tracepoints for Watch {
    type Since = u64;

    fn page_alloc_extfrag(&self, event: ExtFrag) {
        if self.timer.is_on() {
            let (wanted, found) = (event.alloc_migratetype, event.fallback_migratetype);
            self.fallbacks.borrow_mut().note(wanted, found, event.change_ownership);
        }
    }

    #[inline]
    fn zone_lock_acquired(&self) -> u64 {
        self.timer.zone_lock_acquired()
    }

    #[inline]
    fn zone_lock_release(&self, since: u64, touched: u64) {
        if self.timer.is_on() {
            self.timer.zone_lock_release(since, touched);
            self.touched.borrow_mut()[power_of_two(touched)] += 1;
        }
    }
}

impl Watch {
    /// Begins a run; the first run forgets the times of all holds before.
    pub(super) fn begin(&self, first_run: bool) {
        self.fallbacks.take();
        self.touched.take();
        self.timer.begin(first_run);
    }

    /// Returns the holds of zone locks since the run began, by the pages and list nodes that each touched.
    pub(super) fn touched(&self) -> ByPowerOfTwo {
        *self.touched.borrow()
    }

    /// Returns the fallbacks since they were last taken.
    pub(super) fn take_fallbacks(&self) -> Vec<FallbackCount> {
        self.fallbacks.take().counts()
    }
}
