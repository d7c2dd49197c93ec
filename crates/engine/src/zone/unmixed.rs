//! The reasons why pageblock types should not mix in a zone.

use crate::table::sync::{AtomicU16, Ordering};

/// The reasons why requests should not mix pageblock types in a zone, as one bit each; 0 for no reason.
#[derive(Debug)]
pub(crate) struct Unmixed(AtomicU16);

impl Unmixed {
    /// A lower zone can serve requests first.
    const LOWER_ZONE: u16 = 1;
    /// `vm.defrag_mode` is on.
    pub(crate) const DEFRAG_MODE: u16 = 2;

    pub(super) fn new(lower_zone_serves: bool) -> Self {
        Self(AtomicU16::new(if lower_zone_serves { Self::LOWER_ZONE } else { 0 }))
    }

    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }

    pub(crate) fn set(&self, reason: u16, on: bool) {
        let others = self.0.load(Ordering::Relaxed) & !reason;
        self.0.store(if on { others | reason } else { others }, Ordering::Relaxed);
    }
}
