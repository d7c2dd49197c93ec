//! What the engine's tracepoints tell while a step is done.

use std::cell::RefCell;

use freehold::{ExtFrag, Migratetype, Order, Pfn, Tracepoints};

/// One event of the allocator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Happening {
    /// A block left the list of a type under the zone lock.
    ZoneLocked { pfn: Pfn, order: Order, migratetype: Migratetype },
    /// A block was found outside the lists of the wanted type.
    Fallback(ExtFrag),
    /// A block left a CPU's lists for the list of a type.
    Drained { pfn: Pfn, order: Order, migratetype: Migratetype },
}

/// Keeps what happens.
#[derive(Debug, Default)]
pub(super) struct Happenings(RefCell<Vec<Happening>>);

impl Happenings {
    /// Returns what happened since it was last asked.
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
