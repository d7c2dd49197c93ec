//! The watermarks of a zone.

use crate::table::sync::{AtomicU64, Ordering};

/// The three watermarks of a zone.
///
/// Units: pages. More than 2^32 pages count as 2^32, which no zone has. Linux counterpart: `zone->_watermark[]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Watermarks {
    /// Below the min watermark only requests that may use reserves succeed.
    pub min: u64,
    /// Below the low watermark requests wake kswapd.
    pub low: u64,
    /// Above the high watermark kswapd sleeps.
    pub high: u64,
}

/// The limit of a watermark, a boost or a reserve: more pages than any zone has. Sums of a few limits do not overflow.
///
/// Units: pages.
pub(crate) const MOST_PAGES: u64 = 1 << 32;

/// The current watermarks of a zone, each in an atomic. They may be changed while the zone is in use.
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
    /// Returns the watermarks, each limited to [`MOST_PAGES`].
    fn limited(self) -> Self {
        let Self { min, low, high } = self;
        Self { min: min.min(MOST_PAGES), low: low.min(MOST_PAGES), high: high.min(MOST_PAGES) }
    }
}

/// The watermark that a request is compared with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mark {
    Min,
    Low,
    High,
}
