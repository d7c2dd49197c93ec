//! Free blocks counted per order and migratetype, readable without the zone lock.

use crate::table::sync::{AtomicU32, Ordering, fence};
use crate::types::{MAX_ORDERS, MIGRATETYPES, Migratetype, Order, Switches};

/// The counts of one zone.
///
/// Only the holder of the zone lock writes; any thread may read. Each single count is exact at some moment.
/// [`Counts::relaxed`] may mix moments, [`Counts::consistent`] never does.
/// Linux counterpart: `free_area[].nr_free` and, in the series that Linux has not
/// taken, `free_area[].mt_nr_free[]`.
#[derive(Debug)]
pub(crate) struct Counts {
    /// A sequence number, odd while a lock hold changes counts.
    sequence: AtomicU32,
    kept: Kept,
    rows: [Row; MAX_ORDERS],
}

/// The counts that change when a block enters or leaves a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kept {
    /// One count for each type. The total is their sum.
    Types,
    /// Only the total.
    Total,
    /// One count for each type, and the total.
    Both,
}

impl Kept {
    fn by(switches: Switches) -> Self {
        match (switches.counts, switches.derived_total) {
            (true, true) => Self::Types,
            (true, false) => Self::Both,
            (false, _) => Self::Total,
        }
    }
}

/// The counts of one order: one for each type, the total, and a spare place.
///
/// A zone has at most 2^31 pages, so 32 bits suffice, and a row fills half a cache line.
#[derive(Debug)]
#[repr(align(32))]
struct Row([AtomicU32; 8]);

/// The place of the total.
const TOTAL: usize = MIGRATETYPES;

impl Row {
    fn load(&self, place: usize) -> u32 {
        self.0[place].load(Ordering::Relaxed)
    }

    /// Adds one block or, if `by` is `u32::MAX`, subtracts one.
    #[inline]
    fn shift(&self, place: usize, by: u32) {
        let count = &self.0[place];
        count.store(count.load(Ordering::Relaxed).wrapping_add(by), Ordering::Relaxed);
    }

    fn by_type(&self) -> [u64; MIGRATETYPES] {
        core::array::from_fn(|kind| self.load(kind).into())
    }
}

/// The free blocks of a zone at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct FreeCounts {
    /// Free blocks by order.
    pub total: [u64; MAX_ORDERS],
    /// Free blocks by order, then by [`Migratetype::index`].
    pub by_type: [[u64; MIGRATETYPES]; MAX_ORDERS],
}

impl FreeCounts {
    /// Returns the number of free pages of all orders and types.
    ///
    /// Units: pages.
    pub fn free_pages(&self) -> u64 {
        self.pages_from(0)
    }

    /// Returns the number of pages in free blocks of order `first` and above.
    ///
    /// The sum saturates at `u64::MAX`, because counts from files may be too large for any machine.
    pub(crate) fn pages_from(&self, first: usize) -> u64 {
        let blocks = self.total.iter().enumerate().skip(first);
        blocks.fold(0, |pages, (order, blocks)| pages.saturating_add(blocks.saturating_mul(1 << order)))
    }

    /// Returns true if the totals are the sums over the types.
    pub fn totals_agree(&self) -> bool {
        let sum = |counts: &[u64; MIGRATETYPES]| counts.iter().fold(0_u64, |sum, n| sum.saturating_add(*n));
        self.total.iter().zip(&self.by_type).all(|(total, by_type)| *total == sum(by_type))
    }
}

impl Counts {
    pub(super) fn new(switches: Switches) -> Self {
        Self {
            sequence: AtomicU32::new(0),
            kept: Kept::by(switches),
            rows: core::array::from_fn(|_| Row(core::array::from_fn(|_| AtomicU32::new(0)))),
        }
    }

    /// Starts a lock hold's changes.
    pub(super) fn begin(&self) {
        let sequence = self.sequence.load(Ordering::Relaxed);
        self.sequence.store(sequence.wrapping_add(1), Ordering::Relaxed);
        // Pairs with the acquire fence in `consistent`: a reader that sees a count of this hold also sees the odd
        // number.
        fence(Ordering::Release);
    }

    /// Ends a lock hold's changes.
    pub(super) fn end(&self) {
        let sequence = self.sequence.load(Ordering::Relaxed);
        // Pairs with the acquire load in `consistent`: a reader that sees the even number also sees every count of this
        // hold.
        self.sequence.store(sequence.wrapping_add(1), Ordering::Release);
    }

    /// Adds one block of an order and type.
    #[inline]
    pub(super) fn add(&self, order: Order, migratetype: Migratetype) {
        self.shift(order, migratetype, 1);
    }

    /// Subtracts one block of an order and type.
    #[inline]
    pub(super) fn remove(&self, order: Order, migratetype: Migratetype) {
        self.shift(order, migratetype, u32::MAX);
    }

    #[inline]
    fn shift(&self, order: Order, migratetype: Migratetype, by: u32) {
        let row = &self.rows[order.index()];
        match self.kept {
            Kept::Types => row.shift(migratetype.index(), by),
            Kept::Total => row.shift(TOTAL, by),
            Kept::Both => {
                row.shift(migratetype.index(), by);
                row.shift(TOTAL, by);
            }
        }
    }

    /// Returns the number of free blocks of an order. Exact for the lock holder, approximate for other callers.
    pub(crate) fn total(&self, order: Order) -> u64 {
        let row = &self.rows[order.index()];
        if self.kept == Kept::Types { row.by_type().iter().sum() } else { row.load(TOTAL).into() }
    }

    /// Returns the number of free blocks of an order and type. Exact for the lock holder, approximate for other
    /// callers.
    pub(crate) fn of_type(&self, order: Order, migratetype: Migratetype) -> u64 {
        self.rows[order.index()].load(migratetype.index()).into()
    }

    /// Returns every count, each exact at some moment during the call. A total that is not kept is the sum
    /// of the counts read.
    pub(super) fn relaxed(&self) -> FreeCounts {
        let by_type = core::array::from_fn(|order| self.rows[order].by_type());
        let total = match self.kept {
            Kept::Types => by_type.map(|types| types.iter().sum()),
            Kept::Total | Kept::Both => core::array::from_fn(|order| self.rows[order].load(TOTAL).into()),
        };
        FreeCounts { total, by_type }
    }

    /// Returns every count at one moment between two lock holds. Returns `None` if a hold was in progress at each of
    /// `attempts` tries.
    pub(super) fn consistent(&self, attempts: u32) -> Option<FreeCounts> {
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::types::Era;

    #[test]
    fn a_derived_total_is_not_stored() {
        for (derived_total, stored) in [(true, 0), (false, 1)] {
            let counts = Counts::new(Switches { derived_total, ..Era::Freehold.switches() });
            counts.add(Order::ZERO, Migratetype::Movable);
            assert_eq!((counts.rows[0].load(TOTAL), counts.total(Order::ZERO)), (stored, 1));
        }
    }
}
