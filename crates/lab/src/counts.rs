//! Numbers by order and by type.

use freehold::{MAX_ORDERS, MIGRATETYPES, Order};

/// Numbers by order, from 0 on.
pub type ByOrder = [u64; MAX_ORDERS];

/// Free blocks by order, then by migratetype.
pub type ByOrderAndType = [[u64; MIGRATETYPES]; MAX_ORDERS];

/// Returns the number of pageblocks of `order` that blocks of `order` and above contain; `blocks` returns how
/// many blocks an order has.
pub(crate) fn pageblocks(order: Order, blocks: impl Fn(usize) -> u64) -> u64 {
    let orders = order.up_to(Order::MAX);
    orders.map(|larger| blocks(larger.index()).saturating_mul(1 << (larger.get() - order.get()))).sum()
}
