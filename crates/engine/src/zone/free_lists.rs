//! The free lists of a zone.

use crate::table::BlockList;
use crate::types::{Migratetype, ORDER_ROWS, Order};

/// The free lists of one zone, by order and migratetype.
///
/// Both lengths are powers of two, so that an order needs no bounds check.
/// Linux counterpart: `zone->free_area[].free_list[]`.
#[derive(Debug, Default)]
pub(crate) struct FreeLists([[BlockList; 8]; ORDER_ROWS]);

impl FreeLists {
    #[inline]
    pub(crate) fn get(&self, order: Order, migratetype: Migratetype) -> &BlockList {
        &self.0[order.index() % ORDER_ROWS][migratetype.index()]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, order: Order, migratetype: Migratetype) -> &mut BlockList {
        &mut self.0[order.index() % ORDER_ROWS][migratetype.index()]
    }
}
