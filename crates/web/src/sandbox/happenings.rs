//! The events of the engine during a step.

use std::cell::RefCell;

use freehold::{ExtFrag, Migratetype, Order, Pfn, Tracepoints};

/// One event of the allocator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Happening {
    /// A block left the list of a type under the zone lock.
    ZoneLocked { pfn: Pfn, order: Order, migratetype: Migratetype },
    /// A request got a block from the free list of another type.
    Fallback(ExtFrag),
    /// A block left a CPU's lists for the list of a type.
    Drained { pfn: Pfn, order: Order, migratetype: Migratetype },
}

/// Collects the events of the engine.
#[derive(Debug, Default)]
pub(super) struct Happenings(RefCell<Vec<Happening>>);

impl Happenings {
    /// Returns the events since the last call, and forgets them.
    pub(super) fn take(&self) -> Vec<Happening> {
        self.0.take()
    }
}

impl Tracepoints for Happenings {
    type Since = ();

    fn page_alloc_extfrag(&self, event: ExtFrag) {
        self.0.borrow_mut().push(Happening::Fallback(event));
    }

    fn page_alloc_zone_locked(&self, pfn: Pfn, order: Order, migratetype: Migratetype) {
        self.0.borrow_mut().push(Happening::ZoneLocked { pfn, order, migratetype });
    }

    fn page_pcpu_drain(&self, pfn: Pfn, order: Order, migratetype: Migratetype) {
        self.0.borrow_mut().push(Happening::Drained { pfn, order, migratetype });
    }
}
