//! Counters of requests, one set for each CPU so that CPUs do not share a cache line.

use crate::table::sync::{AtomicU64, Ordering};
use crate::types::{MAX_ORDERS, Order, RequestStats};

/// The number of orders, from 0 up, whose failures each CPU counts separately. With these counters [`CpuRequests`]
/// fills two pairs of cache lines.
const OWN_FAILURES: usize = 10;

/// One CPU's counters of requests. Written by that CPU, read by anyone.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct CpuRequests {
    allocs: [AtomicU64; MAX_ORDERS],
    failures: [AtomicU64; OWN_FAILURES],
    type_mismatches: AtomicU64,
    slow_paths: AtomicU64,
    kswapd_wakes: AtomicU64,
}

/// The failed requests for blocks larger than Linux's huge pages, counted by all CPUs together.
#[derive(Debug)]
pub(crate) struct LargeFailures([AtomicU64; MAX_ORDERS - OWN_FAILURES]);

impl LargeFailures {
    pub(super) fn new() -> Self {
        Self(core::array::from_fn(|_| AtomicU64::new(0)))
    }

    /// Returns `sum` with these counters added.
    pub(super) fn added_to(&self, mut sum: RequestStats) -> RequestStats {
        for (failures, counter) in sum.failures[OWN_FAILURES..].iter_mut().zip(&self.0) {
            *failures += counter.load(Ordering::Relaxed);
        }
        sum
    }
}

/// Adds to a counter. A plain load and store, since the counter has one writer.
#[inline]
fn add(counter: &AtomicU64, number: u64) {
    counter.store(counter.load(Ordering::Relaxed) + number, Ordering::Relaxed);
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

impl CpuRequests {
    /// Counts requests that got a block.
    #[inline]
    pub(crate) fn count_answered(&self, order: Order, requests: u64) {
        add(&self.allocs[order.index()], requests);
    }

    /// Counts a request that failed.
    pub(crate) fn count_failed(&self, order: Order, large: &LargeFailures) {
        match self.failures.get(order.index()) {
            Some(counter) => add(counter, 1),
            None => {
                large.0[order.index() - OWN_FAILURES].fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Counts a request that got a block in another type's pageblock.
    pub(crate) fn count_type_mismatch(&self) {
        add(&self.type_mismatches, 1);
    }

    /// Counts a request that no zone admits above its low watermark.
    pub(crate) fn count_slow_path(&self) {
        add(&self.slow_paths, 1);
    }

    /// Counts a request that would wake kswapd because of a boosted watermark.
    pub(crate) fn count_kswapd_wake(&self) {
        add(&self.kswapd_wakes, 1);
    }

    /// Returns `sum` with this CPU's counters added.
    pub(super) fn added_to(&self, mut sum: RequestStats) -> RequestStats {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        for (allocs, counter) in sum.allocs.iter_mut().zip(&self.allocs) {
            *allocs += read(counter);
        }
        for (failures, counter) in sum.failures.iter_mut().zip(&self.failures) {
            *failures += read(counter);
        }
        sum.type_mismatches += read(&self.type_mismatches);
        sum.slow_paths += read(&self.slow_paths);
        sum.kswapd_wakes += read(&self.kswapd_wakes);
        sum
    }
}
