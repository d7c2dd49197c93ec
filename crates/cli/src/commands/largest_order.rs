//! Orders that a machine does not have.

use anyhow::anyhow;
use freehold::Order;

use crate::exit::{Cause, Failure};

/// Fails if a machine with pages of `page_bytes`, whose largest order is `largest`, has no blocks of `order`.
pub(super) fn refuse_larger(order: Order, largest: Order, page_bytes: u64) -> Result<(), Failure> {
    if order <= largest {
        return Ok(());
    }
    let size = |order: Order| match page_bytes.saturating_mul(order.pages()) {
        bytes @ 0x4000_0000.. => format!("{} GiB", bytes >> 30),
        bytes @ 0x10_0000.. => format!("{} MiB", bytes >> 20),
        bytes => format!("{} KiB", bytes >> 10),
    };
    let what = anyhow!(
        "this machine has no blocks of order {order} ({}): its largest order is {largest} ({})",
        size(order),
        size(largest)
    );
    Err(Failure::new(Cause::Input, what))
}
