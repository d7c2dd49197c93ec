//! Counts by order and by type.

use freehold::{MAX_ORDERS, MIGRATETYPES, Order};

/// Counts by order, from order 0 on.
pub type CountsByOrder = freehold_trace::ByOrder<u64>;

/// Free blocks by order, then by migratetype.
pub type ByOrderAndType = freehold_trace::ByOrder<[u64; MIGRATETYPES]>;

/// Returns the counts of the orders up to the largest order of a machine.
pub(crate) fn of_machine<T: Copy + Default>(
    largest: Order,
    by_order: &[T; MAX_ORDERS],
) -> freehold_trace::ByOrder<T> {
    freehold_trace::ByOrder::from_fn(largest, |order| by_order[order.index()])
}

/// Returns the number of pageblocks of `order` in blocks of `order` and above. `blocks` returns the number of blocks
/// of an order; 0 for orders that the machine lacks.
pub(crate) fn pageblocks(order: Order, blocks: impl Fn(usize) -> u64) -> u64 {
    let orders = order.up_to(Order::MAX);
    orders.map(|larger| blocks(larger.index()).saturating_mul(1 << (larger.get() - order.get()))).sum()
}
