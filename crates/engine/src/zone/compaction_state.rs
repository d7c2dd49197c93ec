//! The state that a zone keeps between runs of compaction.

use crate::table::FrameIndex;
use crate::types::Order;

/// The base-2 logarithm of the most runs that are deferred after a failed run.
///
/// Linux counterpart: `COMPACT_MAX_DEFER_SHIFT`.
const MAX_DEFER_SHIFT: u32 = 6;

/// The state that a zone keeps between runs of compaction. The holder of the zone lock reads and writes it.
#[derive(Debug)]
pub(crate) struct CompactionState {
    /// The positions where the migrate scanner continues: for asynchronous and for synchronous compaction.
    /// Linux counterpart: `compact_cached_migrate_pfn`.
    pub(crate) migrate: [FrameIndex; 2],
    /// The position where the free scanner continues. Linux counterpart: `compact_cached_free_pfn`.
    pub(crate) free: FrameIndex,
    /// Runs requested since the last failure.
    considered: u32,
    defer_shift: u32,
    order_failed: u8,
    /// True if the skip hints of pageblocks are out of date. Linux counterpart: `compact_blockskip_flush`.
    pub(crate) flush_hints: bool,
}

impl Default for CompactionState {
    fn default() -> Self {
        // A position outside every zone makes the first run start at the ends of the zone.
        let nowhere = FrameIndex(u32::MAX);
        Self {
            migrate: [nowhere; 2],
            free: nowhere,
            considered: 0,
            defer_shift: 0,
            order_failed: 0,
            flush_hints: false,
        }
    }
}

impl CompactionState {
    /// Returns true if a run is deferred because an earlier run failed. Counts the run.
    ///
    /// Linux counterpart: `compaction_deferred`.
    pub(crate) fn is_deferred(&mut self, order: Order) -> bool {
        if order.get() < self.order_failed {
            return false;
        }
        let limit = 1 << self.defer_shift;
        self.considered = (self.considered + 1).min(limit);
        self.considered < limit
    }

    /// Notes a failed run, and doubles the number of runs that are deferred next.
    ///
    /// Linux counterpart: `defer_compaction`.
    pub(crate) fn defer(&mut self, order: Order) {
        self.considered = 0;
        self.defer_shift = (self.defer_shift + 1).min(MAX_DEFER_SHIFT);
        self.order_failed = self.order_failed.min(order.get());
    }

    /// Notes that compaction for an order may succeed. With `answered`, it gave a request its block.
    ///
    /// Linux counterpart: `compaction_defer_reset`.
    pub(crate) fn reset_deferral(&mut self, order: Order, answered: bool) {
        if answered {
            (self.considered, self.defer_shift) = (0, 0);
        }
        self.order_failed = self.order_failed.max(order.get() + 1);
    }

    /// Returns true if this run is the first after the longest series of deferred runs.
    ///
    /// Linux counterpart: `compaction_restarting`.
    pub(crate) fn is_restarting(&self, order: Order) -> bool {
        order.get() >= self.order_failed
            && self.defer_shift == MAX_DEFER_SHIFT
            && self.considered >= 1 << self.defer_shift
    }
}
