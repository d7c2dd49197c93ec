//! The free lists of a zone.

use crate::table::BlockList;
use crate::types::{MAX_ORDERS, MIGRATETYPES, Migratetype, Order};

/// The free lists of one zone, by order and migratetype.
///
/// Linux counterpart: `zone->free_area[].free_list[]`.
#[derive(Debug, Default)]
pub(crate) struct FreeLists([[BlockList; MIGRATETYPES]; MAX_ORDERS]);

impl FreeLists {
    #[inline]
    pub(crate) fn get(&self, order: Order, migratetype: Migratetype) -> &BlockList {
        &self.0[order.index()][migratetype.index()]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, order: Order, migratetype: Migratetype) -> &mut BlockList {
        &mut self.0[order.index()][migratetype.index()]
    }
}
