//! The outcome of page moves: success or failure.

use freehold::{MAX_ORDERS, Order};

use crate::recorded::MOVE_PARTS;

/// The outcome of page moves. The share of failures is that of the recorded machine. A trace does not record which
/// moves failed, so failures are spread evenly over the blocks of each order.
pub(super) struct Tries {
    /// The pages of all attempted moves, failed ones included.
    pub(super) pages: u64,
    fails_of_1024: u64,
    /// The pages whose moves still have to fail for each order, in fractions of a page.
    due: [u64; MAX_ORDERS],
}

impl Tries {
    pub(super) fn new(fails_of_1024: u32) -> Self {
        Self { pages: 0, fails_of_1024: fails_of_1024.min(MOVE_PARTS).into(), due: [0; MAX_ORDERS] }
    }

    /// Returns true if the next move of a block of `order` succeeds.
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
    fn the_share_of_failed_pages_is_right_for_all_orders() {
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
