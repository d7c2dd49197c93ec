//! The fallbacks of the engine, as events of a recorder.

use std::cell::RefCell;

use freehold::{ExtFrag, Platform, Tracepoints};
use freehold_trace::EventKind;

/// The engine's platform on a generated machine: locks for one thread, and a record of fallbacks.
#[derive(Debug)]
pub(super) struct HostPlatform;

impl Platform for HostPlatform {
    type ZoneLock = parking_lot::RawMutex;
    type PerCpuLock = parking_lot::RawMutex;
    type Tracepoints = Fallbacks;
    type Rule = ();
}

/// Fallbacks since the last [`Self::take`], as `mm_page_alloc_extfrag` events.
#[derive(Debug, Default)]
pub(super) struct Fallbacks(RefCell<Vec<EventKind>>);

impl Fallbacks {
    /// Calls `each` with every fallback since the last call.
    #[inline]
    pub(super) fn take(&self, each: impl FnMut(EventKind)) {
        self.0.borrow_mut().drain(..).for_each(each);
    }
}

impl Tracepoints for Fallbacks {
    type Since = ();

    fn page_alloc_extfrag(&self, event: ExtFrag) {
        let kind = EventKind::ExtFrag {
            pfn: event.pfn,
            order: event.alloc_order,
            fallback_order: event.fallback_order,
            migratetype: event.alloc_migratetype,
            fallback_migratetype: event.fallback_migratetype,
            change_ownership: event.change_ownership,
        };
        self.0.borrow_mut().push(kind);
    }
}
