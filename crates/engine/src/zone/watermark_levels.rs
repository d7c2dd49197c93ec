//! The watermarks of a zone.

use crate::table::sync::{AtomicU64, Ordering};

/// The three watermarks of a zone.
///
/// Units: pages. Linux counterpart: `zone->_watermark[]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Watermarks {
    /// Below it only requests with a right to reserves are answered.
    pub min: u64,
    /// Below it kswapd is woken.
    pub low: u64,
    /// Above it kswapd sleeps.
    pub high: u64,
}

/// The watermarks of a zone at work, which an administrator may change.
#[derive(Debug)]
pub(crate) struct WatermarkCells {
    min: AtomicU64,
    low: AtomicU64,
    high: AtomicU64,
}

impl WatermarkCells {
    pub(super) fn new(marks: Watermarks) -> Self {
        let Watermarks { min, low, high } = marks;
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
        self.min.store(marks.min, Ordering::Relaxed);
        self.low.store(marks.low, Ordering::Relaxed);
        self.high.store(marks.high, Ordering::Relaxed);
    }
}

/// The mark that a request is compared with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mark {
    Min,
    Low,
    High,
}
