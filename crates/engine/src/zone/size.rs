//! The size of a zone: its spanned, present and managed pages.

use super::guard::ZoneGuard;
use super::state::Zone;
use crate::table::sync::{AtomicU64, Ordering};
use crate::types::Platform;

impl<P: Platform> Zone<'_, P> {
    /// Returns the number of frames from the zone's first to its last, including holes. It is the number of the
    /// configuration, and does not change when frames go out of service.
    ///
    /// Units: pages. Linux counterpart: `spanned_pages`.
    pub fn spanned_pages(&self) -> u64 {
        self.end().0 - self.start().0
    }

    /// Returns the number of frames in service: all frames that are not holes.
    ///
    /// Units: pages. Linux counterpart: `present_pages`.
    pub fn present_pages(&self) -> u64 {
        self.shared.present.load(Ordering::Relaxed)
    }

    /// Returns the number of pages that the allocator manages: the number of the configuration, changed by
    /// [`crate::Memory::offline_range`] and [`crate::Memory::online_range`].
    ///
    /// Units: pages. Linux counterpart: `zone_managed_pages`.
    pub fn managed_pages(&self) -> u64 {
        self.shared.managed.load(Ordering::Relaxed)
    }
}

impl<P: Platform> ZoneGuard<'_, '_, P> {
    /// Counts frames that come into service. A negative number goes out of service.
    pub(crate) fn count_present(&self, pages: i64) {
        add(&self.zone.shared.present, pages);
    }

    /// Adds to the number of managed pages. A negative number subtracts.
    ///
    /// Linux counterpart: `adjust_managed_page_count`.
    pub(crate) fn count_managed(&self, pages: i64) {
        add(&self.zone.shared.managed, pages);
    }
}

/// Adds to a number whose writers hold the zone lock.
fn add(number: &AtomicU64, pages: i64) {
    number.store(number.load(Ordering::Relaxed).saturating_add_signed(pages), Ordering::Relaxed);
}
