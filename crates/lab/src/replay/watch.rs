//! The engine's tracepoints in a replay.

use std::cell::{Cell, RefCell};

use freehold::{ExtFrag, Platform, Tracepoints};
use freehold_measure::HoldTimer;
use freehold_measure::histogram::{ByPowerOfTwo, power_of_two};

use super::one_thread::OneThread;
use super::rule::Ruling;
use crate::recorded::{FallbackCount, Fallbacks};

/// The engine's platform in a replay: locks, a [`Watch`] for lock holds and fallbacks, and a [`Ruling`] for placement.
#[derive(Debug)]
pub(super) struct ReplayPlatform;

impl Platform for ReplayPlatform {
    type ZoneLock = OneThread;
    type PerCpuLock = OneThread;
    type Tracepoints = Watch;
    type Rule = Ruling;
    const DETECTS_RACING_FREES: bool = false;
}

/// Records holds of the zone lock and fallbacks while its timer is on.
#[derive(Debug, Default)]
pub(super) struct Watch {
    pub(super) timer: HoldTimer,
    fallbacks: RefCell<Fallbacks>,
    /// The fallbacks with their times, if they are kept.
    found: RefCell<Option<Vec<(u64, ExtFrag)>>>,
    /// The time of the current event.
    now_ns: Cell<u64>,
    /// Zone lock holds, by the pages and list nodes that each touched.
    touched: RefCell<ByPowerOfTwo>,
}

impl Tracepoints for Watch {
    type Since = u64;

    fn page_alloc_extfrag(&self, event: ExtFrag) {
        if self.timer.is_on() {
            let (wanted, found) = (event.alloc_migratetype, event.fallback_migratetype);
            self.fallbacks.borrow_mut().note(wanted, found, event.change_ownership);
            if let Some(kept) = self.found.borrow_mut().as_mut() {
                kept.push((self.now_ns.get(), event));
            }
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
    /// Starts to keep each fallback with its time.
    pub(super) fn keep_found(&self) {
        self.found.replace(Some(Vec::new()));
    }

    /// Sets the time of the next event.
    #[inline]
    pub(super) fn set_now(&self, now_ns: u64) {
        self.now_ns.set(now_ns);
    }

    /// Starts a run. The first run resets the times of all holds.
    pub(super) fn begin(&self, first_run: bool) {
        self.fallbacks.take();
        self.touched.take();
        self.timer.begin(first_run);
    }

    /// Returns the zone lock holds since the start of the run, by the pages and list nodes that each touched.
    pub(super) fn touched(&self) -> ByPowerOfTwo {
        *self.touched.borrow()
    }

    /// Returns and removes the fallbacks since the last call, with their times; empty if they are not kept.
    pub(super) fn take_found(&self) -> Vec<(u64, ExtFrag)> {
        self.found.borrow_mut().as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Returns and resets the counts of fallbacks since the last call.
    pub(super) fn take_fallbacks(&self) -> Vec<FallbackCount> {
        self.fallbacks.take().counts()
    }
}
