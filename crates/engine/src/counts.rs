//! Free blocks counted per order and migratetype, readable without the zone lock.

use crate::sync::{AtomicU32, AtomicU64, Ordering, fence};
use crate::{MAX_ORDERS, MIGRATETYPES, Migratetype, Order};

/// The counts of one zone.
///
/// One writer at a time, the holder of the zone lock; any number of readers
/// anywhere. Each single count is exact at some moment; [`Counts::relaxed`] may
/// mix moments, [`Counts::consistent`] never does.
/// Linux counterpart: `free_area[].nr_free` and, in the series that Linux has not
/// taken, `free_area[].mt_nr_free[]`.
#[derive(Debug)]
pub(crate) struct Counts {
    /// Odd while a lock hold is changing counts.
    sequence: AtomicU32,
    total: [AtomicU64; MAX_ORDERS],
    by_type: [[AtomicU64; MIGRATETYPES]; MAX_ORDERS],
}

/// The free blocks of a zone at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FreeCounts {
    /// Free blocks by order.
    pub total: [u64; MAX_ORDERS],
    /// Free blocks by order, then by [`Migratetype::index`].
    pub by_type: [[u64; MIGRATETYPES]; MAX_ORDERS],
}

impl FreeCounts {
    /// Free pages of all orders and types.
    ///
    /// Units: pages.
    pub fn free_pages(&self) -> u64 {
        self.total.iter().enumerate().map(|(order, blocks)| blocks << order).sum()
    }

    /// Whether the totals are the sums over the types.
    pub fn totals_agree(&self) -> bool {
        self.total.iter().zip(&self.by_type).all(|(total, by_type)| *total == by_type.iter().sum::<u64>())
    }
}

impl Counts {
    pub(crate) fn new() -> Self {
        Self {
            sequence: AtomicU32::new(0),
            total: core::array::from_fn(|_| AtomicU64::new(0)),
            by_type: core::array::from_fn(|_| core::array::from_fn(|_| AtomicU64::new(0))),
        }
    }

    /// Starts a lock hold's changes.
    pub(crate) fn begin(&self) {
        let sequence = self.sequence.load(Ordering::Relaxed);
        self.sequence.store(sequence.wrapping_add(1), Ordering::Relaxed);
        // Pairs with the acquire fence in `consistent`: who sees a count of this
        // hold also sees the odd sequence.
        fence(Ordering::Release);
    }

    /// Ends a lock hold's changes.
    pub(crate) fn end(&self) {
        let sequence = self.sequence.load(Ordering::Relaxed);
        // Pairs with the acquire load in `consistent`: who sees the even sequence
        // also sees every count of this hold.
        self.sequence.store(sequence.wrapping_add(1), Ordering::Release);
    }

    fn shift(count: &AtomicU64, by: i64) {
        let value = count.load(Ordering::Relaxed);
        count.store(value.wrapping_add_signed(by), Ordering::Relaxed);
    }

    pub(crate) fn shift_total(&self, order: Order, by: i64) {
        Self::shift(&self.total[order.index()], by);
    }

    pub(crate) fn shift_type(&self, order: Order, migratetype: Migratetype, by: i64) {
        Self::shift(&self.by_type[order.index()][migratetype.index()], by);
    }

    /// Exact for the lock holder, approximate for others.
    pub(crate) fn total(&self, order: Order) -> u64 {
        self.total[order.index()].load(Ordering::Relaxed)
    }

    /// Exact for the lock holder, approximate for others.
    pub(crate) fn of_type(&self, order: Order, migratetype: Migratetype) -> u64 {
        self.by_type[order.index()][migratetype.index()].load(Ordering::Relaxed)
    }

    /// Every count, each exact at some moment between call and return.
    pub(crate) fn relaxed(&self) -> FreeCounts {
        FreeCounts {
            total: core::array::from_fn(|order| self.total[order].load(Ordering::Relaxed)),
            by_type: core::array::from_fn(|order| {
                core::array::from_fn(|kind| self.by_type[order][kind].load(Ordering::Relaxed))
            }),
        }
    }

    /// Every count at one moment between two lock holds, or `None` if a hold was
    /// under way at each of `attempts` tries.
    pub(crate) fn consistent(&self, attempts: u32) -> Option<FreeCounts> {
        for _ in 0..attempts {
            // Pairs with the release store in `end`.
            let before = self.sequence.load(Ordering::Acquire);
            if before & 1 == 0 {
                let counts = self.relaxed();
                // Pairs with the release fence in `begin`.
                fence(Ordering::Acquire);
                if self.sequence.load(Ordering::Relaxed) == before {
                    return Some(counts);
                }
            }
            core::hint::spin_loop();
        }
        None
    }
}
