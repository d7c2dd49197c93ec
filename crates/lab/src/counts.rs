//! Numbers by order and by type.

use freehold::{MAX_ORDERS, MIGRATETYPES, NR_PAGE_ORDERS, Order};

/// Numbers by order, from 0 on.
pub type ByOrder = [u64; NR_PAGE_ORDERS];

/// Free blocks by order, then by migratetype.
pub type ByOrderAndType = [[u64; MIGRATETYPES]; NR_PAGE_ORDERS];

/// Returns the numbers of the orders that a traced machine has.
pub(crate) fn of_machine<T: Copy>(by_order: [T; MAX_ORDERS]) -> [T; NR_PAGE_ORDERS] {
    std::array::from_fn(|order| by_order[order])
}

/// Returns the number of pageblocks of `order` that blocks of `order` and above contain; `blocks` returns how
/// many blocks an order has.
pub(crate) fn pageblocks(order: Order, blocks: impl Fn(usize) -> u64) -> u64 {
    let orders = order.up_to(Order::MAX_PAGE_ORDER);
    orders.map(|larger| blocks(larger.index()).saturating_mul(1 << (larger.get() - order.get()))).sum()
}
