//! Reclaim: background reclaim by kswapd up to the high watermark, and direct reclaim by requests.

use super::shrinker::{Reclaimed, Reclaimer, ShrinkControl, Shrinker};
use crate::compact::{compact_gap, gfp_allows_compaction};
use crate::memory::{MAX_RECLAIM_RETRIES, Memory};
use crate::table::sync::{AtomicU32, Ordering};
use crate::types::{AllocFlags, GfpFlags, Order, Platform, Request, ZoneType};
use crate::zone::{Admission, Mark, Zone};

/// The number of pages that direct reclaim frees for a request, and the least that kswapd reclaims for a zone.
///
/// Units: pages. Linux counterpart: `SWAP_CLUSTER_MAX`.
const SWAP_CLUSTER_MAX: u64 = 32;

/// The priority at which reclaim starts. At priority `n` it scans the pages divided by 2^n.
///
/// Linux counterpart: `DEF_PRIORITY`.
const DEF_PRIORITY: u8 = 12;

/// The most rounds of one call. It bounds the call if the embedder never frees enough.
const MOST_ROUNDS: u32 = 4096;

impl<P: Platform> Memory<'_, P> {
    /// Returns true if a node's kswapd should run: a request found a zone below its low watermark, or a fallback raised
    /// the watermarks.
    pub fn is_kswapd_wanted(&self, node: u16) -> bool {
        let boosted = || self.zones_of(node, ZoneType::Device).any(|zone| zone.watermark_boost() > 0);
        self.node(node).is_some_and(|state| state.kswapd.is_wanted() || boosted())
    }

    /// Returns true if a zone of a node has a block of this order and is above its high watermark. In defrag mode only
    /// pages in whole pageblocks count for orders above 0.
    ///
    /// Linux counterpart: `pgdat_balanced`.
    pub(super) fn is_node_balanced(&self, node: u16, order: Order, highest: ZoneType) -> bool {
        let in_blocks = self.tunables.defrag_mode() && order > Order::ZERO;
        let admission =
            Admission { order, mark: Mark::High, highest_zone: highest as usize, flags: AllocFlags::empty() };
        let mut zones = self.zones_of(node, highest).peekable();
        zones.peek().is_none()
            || zones.any(|zone| {
                let free = if in_blocks { zone.free_in_blocks() } else { zone.free_pages() };
                zone.is_above_with(free, zone.mark(Mark::High), admission)
            })
    }

    /// Runs kswapd for a node: reclaims until a zone is above its high watermark and boosts are relaxed, then wakes
    /// kcompactd.
    ///
    /// `cpu` is the CPU that runs the caller. Returns true if the node is balanced.
    /// Linux counterpart: `balance_pgdat` and going to sleep.
    pub fn kswapd<E: Shrinker<P>>(&self, node: u16, cpu: u16, embedder: &mut E) -> bool {
        let Some(state) = self.node(node).filter(|_| cpu < self.cpus()) else { return false };
        let (order, requested) = state.kswapd.take();
        let boosted = self.zones_of(node, ZoneType::Device).filter(|zone| zone.watermark_boost() > 0);
        let highest = boosted.map(|zone| zone.kind).max().map_or(requested, |kind| kind.max(requested));
        let stopped_at = self.balance(node, cpu, order, highest, embedder);
        let hopeless = state.kswapd_failures.load(Ordering::Relaxed) >= MAX_RECLAIM_RETRIES;
        let balanced = self.is_node_balanced(node, stopped_at, highest);
        if hopeless || balanced {
            self.zones_of(node, ZoneType::Device).for_each(Zone::forget_hints);
            self.wake_kcompactd(node, order, highest);
        }
        balanced
    }

    /// Reclaims until the node is balanced for `order`, or until more reclaim cannot help. Returns the order at the
    /// end.
    ///
    /// Linux counterpart: `balance_pgdat`.
    fn balance<E: Shrinker<P>>(
        &self,
        node: u16,
        cpu: u16,
        order: Order,
        highest: ZoneType,
        embedder: &mut E,
    ) -> Order {
        self.events.pageoutrun.add(1);
        let zones = self.zones_of(node, highest);
        let boosted: u64 = zones.clone().map(Zone::watermark_boost).sum();
        let mut for_boost = boosted;
        let (mut order, mut priority, mut total) = (order, DEF_PRIORITY, Reclaimed::default());
        zones.clone().for_each(|zone| zone.set_reclaim_active(true));
        for _ in 0..MOST_ROUNDS {
            let balanced = self.is_node_balanced(node, order, highest);
            if !balanced && for_boost > 0 {
                (for_boost, priority) = (0, DEF_PRIORITY);
                continue;
            }
            if for_boost == 0 && balanced {
                break;
            }
            let wanted = zones.clone().map(|zone| zone.mark(Mark::High).max(SWAP_CLUSTER_MAX)).sum();
            let clean_only = for_boost > 0;
            let (reclaimer, gfp, highest_zone) = (Reclaimer::Kswapd, GfpFlags::KERNEL, highest);
            let control = ShrinkControl {
                node,
                highest_zone,
                cpu,
                wanted,
                priority,
                order,
                gfp,
                reclaimer,
                clean_only,
            };
            let now = self.shrink(control, embedder);
            total += now;
            if total.reclaimed >= compact_gap(order) {
                // Because of fragmentation the zone may never get the block, so more reclaim would not help.
                order = Order::ZERO;
            }
            for_boost -= for_boost.min(now.reclaimed);
            if for_boost > 0 && now.reclaimed == 0 {
                break;
            }
            let keeps =
                now.scanned.max(now.reclaimed) >= wanted || (for_boost > 0 && priority == DEF_PRIORITY - 2);
            if !keeps || now.reclaimed == 0 {
                priority -= 1;
                if priority == 0 {
                    break;
                }
            }
        }
        if let Some(state) = self.node(node) {
            self.note_outcome(&state.kswapd_failures, boosted, total, order, (node, highest));
        }
        zones.clone().for_each(|zone| zone.set_reclaim_active(false));
        for zone in zones.filter(|_| boosted > 0) {
            zone.relax_boost(zone.watermark_boost());
        }
        if boosted > 0 {
            let pageblock = self.zones.first().map_or(Order::ZERO, Zone::pageblock_order);
            self.wake_kcompactd(node, pageblock, highest);
        }
        order
    }

    /// Counts a run that freed nothing although the node is not balanced.
    fn note_outcome(
        &self,
        failures: &AtomicU32,
        boosted: u64,
        total: Reclaimed,
        order: Order,
        (node, highest): (u16, ZoneType),
    ) {
        if total.reclaimed > 0 {
            failures.store(0, Ordering::Relaxed);
        } else if boosted > 0 || !self.is_node_balanced(node, order, highest) {
            let failed = failures.load(Ordering::Relaxed);
            failures.store(failed.saturating_add(1), Ordering::Relaxed);
        }
    }

    /// Lets the embedder reclaim, and counts the pages scanned and freed.
    fn shrink<E: Shrinker<P>>(&self, control: ShrinkControl, embedder: &mut E) -> Reclaimed {
        let now = embedder.shrink(self, control);
        let (scan, steal) = match control.reclaimer {
            Reclaimer::Kswapd => (&self.events.pgscan_kswapd, &self.events.pgsteal_kswapd),
            Reclaimer::Direct => (&self.events.pgscan_direct, &self.events.pgsteal_direct),
        };
        scan.add(now.scanned);
        steal.add(now.reclaimed);
        now
    }

    /// Runs direct reclaim for a request. Returns true if it made progress.
    ///
    /// Linux counterpart: `try_to_free_pages`.
    pub(crate) fn reclaim_directly<E: Shrinker<P>>(&self, request: &Request, embedder: &mut E) -> bool {
        self.events.allocstall.add(1);
        let mut total = 0;
        let mut ready = false;
        for priority in (0..=DEF_PRIORITY).rev() {
            let mut last_node = None;
            for zone in self.zonelist(request) {
                if request.order > Order::COSTLY && self.is_ready_to_compact(zone, request) {
                    ready = true;
                    continue;
                }
                if last_node.replace(zone.node) != Some(zone.node) {
                    total += self.shrink_node(zone.node, request, priority, embedder);
                }
            }
            if total >= SWAP_CLUSTER_MAX || ready {
                break;
            }
        }
        total > 0 || ready
    }

    /// Reclaims from one node for a request, repeatedly if compaction needs room. Returns the number of
    /// pages freed.
    ///
    /// Linux counterpart: `shrink_node`.
    fn shrink_node<E: Shrinker<P>>(
        &self,
        node: u16,
        request: &Request,
        priority: u8,
        embedder: &mut E,
    ) -> u64 {
        let highest_zone = request.gfp.highest_zone();
        let control = ShrinkControl {
            node,
            highest_zone,
            cpu: request.cpu,
            wanted: SWAP_CLUSTER_MAX,
            priority,
            order: request.order,
            gfp: request.gfp,
            reclaimer: Reclaimer::Direct,
            clean_only: false,
        };
        let mut total = 0;
        for _ in 0..MOST_ROUNDS {
            let now = self.shrink(control, embedder).reclaimed;
            total += now;
            if now == 0 || !self.should_continue_reclaim(request, (node, priority), embedder) {
                break;
            }
        }
        if let Some(state) = self.node(node).filter(|_| total > 0) {
            state.kswapd_failures.store(0, Ordering::Relaxed);
        }
        total
    }

    /// Linux counterpart: `should_continue_reclaim`.
    fn should_continue_reclaim<E: Shrinker<P>>(
        &self,
        request: &Request,
        (node, priority): (u16, u8),
        embedder: &mut E,
    ) -> bool {
        let order = request.order;
        let for_compaction = gfp_allows_compaction(request.gfp)
            && order > Order::ZERO
            && (order > Order::COSTLY || priority < DEF_PRIORITY - 2);
        let highest = request.gfp.highest_zone();
        for_compaction
            && !self.zones_of(node, highest).any(|zone| self.has_or_can_make(zone, request))
            && self.reclaimable(node, highest, embedder) > compact_gap(order)
    }

    /// Returns the largest number of pages that could be reclaimed.
    fn reclaimable<E: Shrinker<P>>(&self, node: u16, highest: ZoneType, embedder: &mut E) -> u64 {
        self.zones_of(node, highest).map(|zone| embedder.reclaimable_pages(node, zone.kind)).sum()
    }

    /// Returns true if a zone has a block for a request above its min watermark, or compaction may make one.
    fn has_or_can_make(&self, zone: &Zone<'_, P>, request: &Request) -> bool {
        let highest_zone = request.gfp.highest_zone() as usize;
        let order = request.order;
        let admission = Admission { order, mark: Mark::Min, highest_zone, flags: AllocFlags::empty() };
        zone.is_above(zone.mark(Mark::Min), admission)
            || zone.may_compact(order, Mark::Min, highest_zone, self.tunables())
    }

    /// Returns true if reclaim is not needed, because a zone has a block or enough free pages to compact.
    ///
    /// Linux counterpart: `compaction_ready`.
    fn is_ready_to_compact(&self, zone: &Zone<'_, P>, request: &Request) -> bool {
        let highest_zone = request.gfp.highest_zone() as usize;
        let order = request.order;
        let flags = AllocFlags::empty();
        let admission = Admission { order, mark: Mark::Min, highest_zone, flags };
        if !gfp_allows_compaction(request.gfp) {
            return false;
        }
        if zone.is_above(zone.mark(Mark::Min), admission) {
            return true;
        }
        let room = zone.mark(Mark::High) + compact_gap(order);
        zone.may_compact(order, Mark::Min, highest_zone, self.tunables())
            && zone.is_above(room, Admission { order: Order::ZERO, ..admission })
    }
}
