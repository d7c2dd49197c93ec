//! The free lists of a zone.

use crate::table::BlockList;
use crate::types::{MAX_ORDERS, Migratetype, Order};

/// The free lists of one zone, by order and migratetype.
///
/// Both sides are powers of two, so that an order needs no check to be a row's number.
/// Linux counterpart: `zone->free_area[].free_list[]`.
#[derive(Debug, Default)]
pub(crate) struct FreeLists([[BlockList; 8]; ROWS]);

const ROWS: usize = MAX_ORDERS.next_power_of_two();

impl FreeLists {
    #[inline]
    pub(crate) fn get(&self, order: Order, migratetype: Migratetype) -> &BlockList {
        &self.0[order.index() % ROWS][migratetype.index()]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, order: Order, migratetype: Migratetype) -> &mut BlockList {
        &mut self.0[order.index() % ROWS][migratetype.index()]
    }
}
