//! Numbers by order and by type.

use freehold::{MAX_ORDERS, MIGRATETYPES, Order};

/// Numbers by order, from 0 on.
pub type ByOrder = freehold_trace::ByOrder<u64>;

/// Free blocks by order, then by migratetype.
pub type ByOrderAndType = freehold_trace::ByOrder<[u64; MIGRATETYPES]>;

/// Returns the numbers of the orders that a machine has.
pub(crate) fn of_machine<T: Copy + Default>(
    largest: Order,
    by_order: &[T; MAX_ORDERS],
) -> freehold_trace::ByOrder<T> {
    freehold_trace::ByOrder::from_fn(largest, |order| by_order[order.index()])
}

/// Returns the number of pageblocks of `order` that blocks of `order` and above contain; `blocks` returns how
/// many blocks an order has, 0 of those that a machine does not have.
pub(crate) fn pageblocks(order: Order, blocks: impl Fn(usize) -> u64) -> u64 {
    let orders = order.up_to(Order::MAX);
    orders.map(|larger| blocks(larger.index()).saturating_mul(1 << (larger.get() - order.get()))).sum()
}
