//! Which moves of pages succeed.

use freehold::{MAX_ORDERS, Order};

use crate::recorded::MOVE_PARTS;

/// Which moves of pages succeed. Of blocks of each order those that fail are spread evenly, as many as failed on the recorded
/// machine: a trace does not tell which.
pub(super) struct Tries {
    /// The pages that were to be moved, those that stayed included.
    pub(super) pages: u64,
    fails_of_1024: u64,
    /// The failed pages that are due of blocks of each order, in parts of a page.
    due: [u64; MAX_ORDERS],
}

impl Tries {
    pub(super) fn new(fails_of_1024: u32) -> Self {
        Self { pages: 0, fails_of_1024: fails_of_1024.min(MOVE_PARTS).into(), due: [0; MAX_ORDERS] }
    }

    /// Returns true if the next move, of a block, succeeds.
    pub(super) fn succeeds(&mut self, order: Order) -> bool {
        let whole = u64::from(MOVE_PARTS) * order.pages();
        self.pages += order.pages();
        let due = &mut self.due[order.index()];
        *due += self.fails_of_1024 * order.pages();
        let fails = *due >= whole;
        *due -= if fails { whole } else { 0 };
        !fails
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_pages_fail_as_should_in_blocks_of_any_size() {
        for fails in [0, 1, 61, 500, 1024, 5000] {
            let mut tries = Tries::new(fails);
            let mut failed = 0;
            for number in 0_u32..100_000 {
                let order = Order::new((number % 11) as u8).expect("an order");
                failed += if tries.succeeds(order) { 0 } else { order.pages() };
            }
            let expected = tries.pages * u64::from(fails.min(1024)) / 1024;
            assert!(failed.abs_diff(expected) <= 2048, "{fails}: {failed} of {expected}");
        }
    }
}
