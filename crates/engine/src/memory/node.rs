//! What a node's daemons have been asked for.

use crate::memory::state::Memory;
use crate::request::alloc::Request;
use crate::table::sync::{AtomicBool, AtomicU32, Locks, Ordering};
use crate::zone::state::{Zone, ZoneType};
use crate::{GfpFlags, Order};

/// What kswapd and kcompactd of one node have been asked for.
///
/// Linux counterpart: the fields of the same names in `pg_data_t`.
#[derive(Debug)]
pub(crate) struct NodeState {
    pub(crate) kswapd: Wish,
    pub(crate) kcompactd: Wish,
    /// Runs of kswapd in a row that freed nothing.
    pub(crate) kswapd_failures: AtomicU32,
}

/// What one daemon has been asked for: the largest of all that was asked since it last went.
#[derive(Debug)]
pub(crate) struct Wish {
    wanted: AtomicBool,
    order: AtomicU32,
    highest_zone: AtomicU32,
}

impl Wish {
    fn new() -> Self {
        Self { wanted: AtomicBool::new(false), order: AtomicU32::new(0), highest_zone: AtomicU32::new(0) }
    }

    /// Asks for `order` in the zones up to one; [`Wish::wake`] lets the daemon go.
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

    /// What was asked for; from now on nothing is.
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
    pub(crate) fn new() -> Self {
        Self { kswapd: Wish::new(), kcompactd: Wish::new(), kswapd_failures: AtomicU32::new(0) }
    }
}

/// Runs that may fail in a row before reclaim is given up.
///
/// Linux counterpart: `MAX_RECLAIM_RETRIES`.
pub(crate) const MAX_RECLAIM_RETRIES: u32 = 16;

impl<'m, L: Locks> Memory<'m, L> {
    pub(crate) fn node(&self, node: u16) -> Option<&'m NodeState> {
        self.node_states.get(usize::from(node))
    }

    /// The zones of a node up to a type, from low to high.
    pub(crate) fn zones_of(
        &self,
        node: u16,
        highest: ZoneType,
    ) -> impl Iterator<Item = &'m Zone<'m, L>> + Clone {
        self.zones.iter().filter(move |zone| zone.node == node && zone.kind <= highest)
    }

    /// Asks a node's kswapd to make room for a request; where there is room and only no block,
    /// kcompactd.
    ///
    /// Linux counterpart: `wakeup_kswapd`.
    pub(crate) fn wake_daemons(&self, node: u16, request: &Request) {
        let Some(state) = self.node(node) else { return };
        let highest = request.gfp.highest_zone();
        let defrag_mode = self.tunables.defrag_mode();
        let pageblock = self.zones.first().map_or(Order::ZERO, Zone::pageblock_order);
        let order = if defrag_mode { request.order.max(pageblock) } else { request.order };
        state.kswapd.note(order, highest);
        let hopeless = state.kswapd_failures.load(Ordering::Relaxed) >= MAX_RECLAIM_RETRIES;
        let boosted = || self.zones_of(node, highest).any(|zone| zone.watermark_boost() > 0);
        if hopeless || (self.is_node_balanced(node, order, highest) && !boosted()) {
            if !request.gfp.contains(GfpFlags::DIRECT_RECLAIM) {
                self.wake_kcompactd(node, order, highest);
            }
            return;
        }
        state.kswapd.wake();
    }
}
