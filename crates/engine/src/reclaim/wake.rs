//! Waking of kswapd, and the functions that an embedder's own kswapd needs.

use crate::memory::{MAX_RECLAIM_RETRIES, Memory};
use crate::table::sync::Ordering;
use crate::types::{AllocFlags, GfpFlags, Order, Platform, Request, ZoneType};
use crate::zone::{Admission, Mark, Zone};

impl<P: Platform> Memory<'_, P> {
    /// Wakes kswapd for every zone that a request may use.
    ///
    /// Linux counterpart: `wake_all_kswapds`.
    #[cold]
    pub(crate) fn wake_kswapd(&self, request: &Request) {
        let mut last_node = None;
        for zone in self.zonelist(request) {
            zone.shared.kswapd_wanted.store(true, Ordering::Relaxed);
            if last_node.replace(zone.node) != Some(zone.node) {
                self.wake_daemons(zone.node, request);
            }
        }
    }

    /// Wakes a node's kswapd for a request. Wakes kcompactd instead if the node is balanced or its kswapd has failed
    /// too often.
    ///
    /// Linux counterpart: `wakeup_kswapd`.
    fn wake_daemons(&self, node: u16, request: &Request) {
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

impl<P: Platform> Zone<'_, P> {
    /// Returns true if a request has woken kswapd since the last call of this function.
    pub fn take_kswapd_wake(&self) -> bool {
        let wanted = &self.shared.kswapd_wanted;
        let woken = wanted.load(Ordering::Relaxed);
        if woken {
            wanted.store(false, Ordering::Relaxed);
        }
        woken
    }

    /// Returns true if the zone is above its high watermark, so that kswapd may sleep.
    ///
    /// Linux counterpart: what `pgdat_balanced` asks of a zone for order 0.
    pub fn is_balanced(&self) -> bool {
        let highest_zone = ZoneType::Movable as usize;
        let flags = AllocFlags::empty();
        self.is_above(
            self.mark(Mark::High),
            Admission { order: Order::ZERO, mark: Mark::High, highest_zone, flags },
        )
    }

    /// Sets whether reclaim is active. Active reclaim keeps the zone's per-CPU lists short.
    ///
    /// Linux counterpart: `ZONE_RECLAIM_ACTIVE`.
    pub fn set_reclaim_active(&self, active: bool) {
        self.shared.reclaim_active.store(active, Ordering::Relaxed);
        // The next hold of the zone lock computes it again.
        self.shared.plenty.store(0, Ordering::Relaxed);
    }

    /// Returns the number of pages by which fallbacks have raised the watermarks.
    ///
    /// Units: pages. Linux counterpart: `zone->watermark_boost`.
    pub fn watermark_boost(&self) -> u64 {
        self.shared.boost.load(Ordering::Relaxed)
    }

    /// Lowers the boost of the watermarks by `pages`. kswapd does so after it has reclaimed for the boost.
    pub fn relax_boost(&self, pages: u64) {
        let _guard = self.lock();
        let boost = self.shared.boost.load(Ordering::Relaxed);
        self.shared.boost.store(boost.saturating_sub(pages), Ordering::Relaxed);
    }
}
