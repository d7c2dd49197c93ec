//! Notes the fallbacks of this thread's engine, which a recorder would have seen.

use std::cell::RefCell;

use freehold::{ExtFrag, Tracepoints};
use freehold_trace::EventKind;

thread_local! {
    static SEEN: RefCell<Vec<EventKind>> = const { RefCell::new(Vec::new()) };
}

/// The locks of a machine that is made up: one thread, which is watched.
pub(crate) type HostLocks = (parking_lot::RawMutex, parking_lot::RawMutex, Fallbacks);

/// Notes `mm_page_alloc_extfrag`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fallbacks;

impl Fallbacks {
    /// Hands over what was seen since the last call.
    #[inline]
    pub(crate) fn take(mut each: impl FnMut(EventKind)) {
        SEEN.with_borrow_mut(|seen| seen.drain(..).for_each(&mut each));
    }
}

impl Tracepoints for Fallbacks {
    fn page_alloc_extfrag(event: ExtFrag) {
        let kind = EventKind::ExtFrag {
            pfn: event.pfn,
            order: event.alloc_order,
            fallback_order: event.fallback_order,
            migratetype: event.alloc_migratetype,
            fallback_migratetype: event.fallback_migratetype,
            change_ownership: event.change_ownership,
        };
        SEEN.with_borrow_mut(|seen| seen.push(kind));
    }
}
