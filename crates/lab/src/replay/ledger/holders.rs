//! The users of a replay's pages, as the engine asks for them: what can be moved, and what can
//! be given up.

use freehold::{
    Memory, Migratetype, Order, Pfn, Reclaimed, Reclaimer, Relocate, ShrinkControl, Shrinker, ZoneType,
};

use super::moved::MovedBlocks;
use super::page_cache::PageCache;
use super::places::{Holder, Places};
use super::traced::{Entry, Pages, Traced, TracedFrames};
use crate::replay::watch::ReplayLocks;

/// The users of a replay's pages.
///
/// Page cache and anonymous pages of the trace can be moved, page cache can be reclaimed. Pages
/// that were in use before the start and to the end can be moved if they were on the LRU.
pub(crate) struct Holders<'h, 'm> {
    pub(crate) memory: &'h Memory<'m, ReplayLocks>,
    pub(crate) traced: &'h mut TracedFrames,
    pub(crate) moved: &'h mut MovedBlocks,
    pub(crate) places: &'h mut Places,
    pub(crate) cache: &'h mut PageCache,
    /// Pages by which boosts had kswapd reclaim: the machine's own are in the trace, as frees.
    pub(crate) left_to_trace: &'h mut u64,
}

impl Holders<'_, '_> {
    fn holder(&mut self, replayed: Pfn) -> Holder {
        self.places.build(self.traced, self.moved);
        self.places.holder(self.traced, self.moved, replayed)
    }

    /// Gives up the oldest page cache; returns its pages.
    fn reclaim_oldest(&mut self, cpu: u16) -> Option<u64> {
        let at = self.traced.at_place(self.cache.pop(self.traced)?);
        let Traced::Held(order, replayed) = self.traced.get(at) else { return Some(0) };
        if self.memory.free(cpu, replayed, order).is_err() {
            return Some(0);
        }
        self.traced.set(at, order, Entry::skipped(order));
        Some(order.pages())
    }
}

impl Relocate for Holders<'_, '_> {
    fn is_movable(&mut self, pfn: Pfn, order: Order) -> bool {
        match self.holder(pfn) {
            Holder::Traced(place) => self.traced.entry(self.traced.at_place(place)).pages() != Pages::Pinned,
            Holder::Moved(_) => true,
            Holder::Nobody => self.memory.allocated_block(pfn) == Some((order, Migratetype::Movable)),
        }
    }

    fn relocate(&mut self, from: Pfn, to: Pfn, order: Order) -> bool {
        let holder = self.holder(from);
        match holder {
            Holder::Traced(place) => {
                let at = self.traced.at_place(place);
                let pages = self.traced.entry(at).pages();
                self.traced.set(at, order, Entry::held(order, to, pages));
            }
            Holder::Moved(number) => self.moved.relocated(number, to),
            Holder::Nobody => {}
        }
        self.places.note(self.traced, to, holder);
        true
    }
}

impl Shrinker<ReplayLocks> for Holders<'_, '_> {
    /// A request reclaims by itself, page cache, the oldest first. What the daemon reclaimed on
    /// the machine is in the trace, and the shortage is the same: it is counted, and left to it.
    fn shrink(&mut self, _: &Memory<'_, ReplayLocks>, control: ShrinkControl) -> Reclaimed {
        if control.reclaimer == Reclaimer::Kswapd {
            // What it does for a large block, before it leaves the rest to kcompactd.
            let mut pages = 2 * control.order.pages();
            if control.clean_only {
                let zones = self.memory.zones().iter().filter(|zone| zone.node() == control.node);
                pages = zones.map(freehold::Zone::watermark_boost).sum();
                *self.left_to_trace += pages;
            }
            return Reclaimed { scanned: 0, reclaimed: pages };
        }
        let most = (self.cache.len() >> control.priority).max(32).min(self.cache.len());
        let mut done = Reclaimed::default();
        for _ in 0..most {
            let Some(pages) = self.reclaim_oldest(control.cpu) else { break };
            done += Reclaimed { scanned: pages.max(1), reclaimed: pages };
            if done.reclaimed >= control.wanted {
                break;
            }
        }
        done
    }

    fn reclaimable_pages(&mut self, _: u16, zone: ZoneType) -> u64 {
        // The trace's page cache is not kept by zone: most of it is where most memory is.
        let main = self.memory.zones().iter().max_by_key(|zone| zone.end().0 - zone.start().0);
        if main.is_some_and(|main| main.kind() == zone) { self.cache.len() } else { 0 }
    }
}
