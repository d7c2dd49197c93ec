//! The watermarks of a zone.

use crate::table::sync::{AtomicU64, Ordering};

/// The three watermarks of a zone.
///
/// Units: pages; more than 2^32 count as 2^32, which no zone has. Linux counterpart: `zone->_watermark[]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Watermarks {
    /// Below it only requests with a right to reserves are answered.
    pub min: u64,
    /// Below it kswapd is woken.
    pub low: u64,
    /// Above it kswapd sleeps.
    pub high: u64,
}

/// The most pages that a mark, a boost or a reserve counts as: more than any zone has. Sums of a few of them
/// do not overflow.
///
/// Units: pages.
pub(crate) const MOST_PAGES: u64 = 1 << 32;

/// The watermarks of a zone at work, which an administrator may change.
#[derive(Debug)]
pub(crate) struct WatermarkCells {
    min: AtomicU64,
    low: AtomicU64,
    high: AtomicU64,
}

impl WatermarkCells {
    pub(super) fn new(marks: Watermarks) -> Self {
        let Watermarks { min, low, high } = marks.limited();
        Self { min: AtomicU64::new(min), low: AtomicU64::new(low), high: AtomicU64::new(high) }
    }

    #[inline]
    pub(super) fn get(&self, mark: Mark) -> u64 {
        let cell = match mark {
            Mark::Min => &self.min,
            Mark::Low => &self.low,
            Mark::High => &self.high,
        };
        cell.load(Ordering::Relaxed)
    }

    pub(crate) fn load(&self) -> Watermarks {
        Watermarks {
            min: self.min.load(Ordering::Relaxed),
            low: self.low.load(Ordering::Relaxed),
            high: self.high.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn store(&self, marks: Watermarks) {
        let marks = marks.limited();
        self.min.store(marks.min, Ordering::Relaxed);
        self.low.store(marks.low, Ordering::Relaxed);
        self.high.store(marks.high, Ordering::Relaxed);
    }
}

impl Watermarks {
    /// Returns marks of at most [`MOST_PAGES`].
    fn limited(self) -> Self {
        let Self { min, low, high } = self;
        Self { min: min.min(MOST_PAGES), low: low.min(MOST_PAGES), high: high.min(MOST_PAGES) }
    }
}

/// The mark that a request is compared with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mark {
    Min,
    Low,
    High,
}
