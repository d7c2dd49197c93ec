//! The pending requests to a node's daemons.

use crate::table::sync::{AtomicBool, AtomicU32, Ordering};
use crate::types::{Order, ZoneType};

/// The pending requests to kswapd and kcompactd of one node.
///
/// Linux counterpart: the fields of the same names in `pg_data_t`.
#[derive(Debug)]
pub(crate) struct NodeState {
    pub(crate) kswapd: DaemonRequest,
    pub(crate) kcompactd: DaemonRequest,
    /// The number of consecutive runs of kswapd that freed nothing.
    pub(crate) kswapd_failures: AtomicU32,
}

/// The requests to one daemon since its last run: the largest order, and the highest zone type.
#[derive(Debug)]
pub(crate) struct DaemonRequest {
    wanted: AtomicBool,
    order: AtomicU32,
    highest_zone: AtomicU32,
}

impl DaemonRequest {
    fn new() -> Self {
        Self { wanted: AtomicBool::new(false), order: AtomicU32::new(0), highest_zone: AtomicU32::new(0) }
    }

    /// Requests `order` in the zones up to `highest_zone`. [`DaemonRequest::wake`] makes the daemon run.
    pub(crate) fn note(&self, order: Order, highest_zone: ZoneType) {
        self.order.fetch_max(order.get().into(), Ordering::Relaxed);
        self.highest_zone.fetch_max(highest_zone as u32, Ordering::Relaxed);
    }

    pub(crate) fn wake(&self) {
        self.wanted.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed)
    }

    /// Returns the largest requested order and the highest requested zone type, and resets both.
    pub(crate) fn take(&self) -> (Order, ZoneType) {
        self.wanted.store(false, Ordering::Relaxed);
        let order = self.order.swap(0, Ordering::Relaxed);
        let highest = self.highest_zone.swap(0, Ordering::Relaxed) as usize;
        (
            Order::new(order as u8).unwrap_or(Order::ZERO),
            ZoneType::ALL.get(highest).copied().unwrap_or(ZoneType::Movable),
        )
    }
}

impl NodeState {
    pub(super) fn new() -> Self {
        Self {
            kswapd: DaemonRequest::new(),
            kcompactd: DaemonRequest::new(),
            kswapd_failures: AtomicU32::new(0),
        }
    }
}

/// The number of consecutive runs that may fail before kswapd gives up.
///
/// Linux counterpart: `MAX_RECLAIM_RETRIES`.
pub(crate) const MAX_RECLAIM_RETRIES: u32 = 16;
