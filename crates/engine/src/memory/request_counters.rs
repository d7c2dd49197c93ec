//! Counters of requests, one set for each CPU so that CPUs do not share a cache line.

use crate::table::sync::{AtomicU64, Ordering};
use crate::types::{MAX_ORDERS, Order, RequestStats};

/// One CPU's counters of requests. Written by that CPU, read by anyone.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct CpuRequests {
    allocs: [AtomicU64; MAX_ORDERS],
    failures: [AtomicU64; MAX_ORDERS],
    type_mismatches: AtomicU64,
    slow_paths: AtomicU64,
    kswapd_wakes: AtomicU64,
}

impl Default for CpuRequests {
    fn default() -> Self {
        Self {
            allocs: core::array::from_fn(|_| AtomicU64::new(0)),
            failures: core::array::from_fn(|_| AtomicU64::new(0)),
            type_mismatches: AtomicU64::new(0),
            slow_paths: AtomicU64::new(0),
            kswapd_wakes: AtomicU64::new(0),
        }
    }
}

/// Adds to a counter. A plain load and store, since the counter has one writer.
#[inline]
fn add(counter: &AtomicU64, number: u64) {
    counter.store(counter.load(Ordering::Relaxed) + number, Ordering::Relaxed);
}

impl CpuRequests {
    /// Counts requests that got a block.
    #[inline]
    pub(crate) fn count_answered(&self, order: Order, requests: u64) {
        add(&self.allocs[order.index()], requests);
    }

    /// Counts a request that failed.
    pub(crate) fn count_failed(&self, order: Order) {
        add(&self.failures[order.index()], 1);
    }

    /// Counts a request that got a block in another type's pageblock.
    pub(crate) fn count_type_mismatch(&self) {
        add(&self.type_mismatches, 1);
    }

    /// Counts a request that no zone admits above its low mark.
    pub(crate) fn count_slow_path(&self) {
        add(&self.slow_paths, 1);
    }

    /// Counts a request that would wake kswapd because of a boosted mark.
    pub(crate) fn count_kswapd_wake(&self) {
        add(&self.kswapd_wakes, 1);
    }

    /// Returns `sum` with this CPU's counters added.
    pub(super) fn added_to(&self, mut sum: RequestStats) -> RequestStats {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        for order in 0..MAX_ORDERS {
            sum.allocs[order] += read(&self.allocs[order]);
            sum.failures[order] += read(&self.failures[order]);
        }
        sum.type_mismatches += read(&self.type_mismatches);
        sum.slow_paths += read(&self.slow_paths);
        sum.kswapd_wakes += read(&self.kswapd_wakes);
        sum
    }
}
