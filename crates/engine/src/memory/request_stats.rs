//! Counters of requests, one set a CPU so that CPUs do not share a cache line.

use crate::table::sync::{AtomicU64, Ordering};
use crate::types::{MAX_ORDERS, Order, RequestStats};

/// One CPU's counters. Written by that CPU, read by anyone.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct CpuRequests {
    allocs: [AtomicU64; MAX_ORDERS],
    failures: [AtomicU64; MAX_ORDERS],
    pub(crate) type_mismatches: AtomicU64,
    pub(crate) slow_paths: AtomicU64,
    pub(crate) kswapd_wakes: AtomicU64,
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

/// One more. A plain load and store: the counter has one writer.
pub(crate) fn count(counter: &AtomicU64) {
    counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

impl CpuRequests {
    pub(crate) fn answered(&self, order: Order, requests: u64) {
        let counter = &self.allocs[order.index()];
        counter.store(counter.load(Ordering::Relaxed) + requests, Ordering::Relaxed);
    }

    pub(crate) fn refused(&self, order: Order) {
        count(&self.failures[order.index()]);
    }

    pub(crate) fn added_to(&self, mut sum: RequestStats) -> RequestStats {
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
