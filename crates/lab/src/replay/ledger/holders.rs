//! The owners of the replay's pages, and the operations that the engine may use on the pages.

use std::collections::VecDeque;

use freehold::{
    Memory, Migratetype, Order, Pfn, Reclaimed, Reclaimer, Relocate, ShrinkControl, Shrinker, ZoneType,
};

use super::moved::MovedBlocks;
use super::page_cache::PageCache;
use super::places::{Holder, Places};
use super::traced::{At, Entry, Pages, Traced, TracedFrames};
use super::tries::Tries;
use crate::recorded::MoveCost;
use crate::replay::measures::Followed;
use crate::replay::watch::ReplayPlatform;
use crate::start::{RecordedMachine, Start};

/// The ledger of the replay's pages: replayed blocks with their traced blocks, blocks that the machine moved to a place
/// that no event names, and page cache.
///
/// Page cache and anonymous pages of the trace can be moved, and page cache can be reclaimed. Pages in use from before
/// the start to the end can be moved if they were on the LRU.
pub(in crate::replay) struct Holders<'f, 'm> {
    memory: &'f Memory<'m, ReplayPlatform>,
    traced: TracedFrames,
    moved: MovedBlocks,
    places: Places,
    cache: PageCache,
    /// Pages that kswapd should reclaim for boosts. Pages that the machine reclaimed are frees in the trace.
    left_to_trace: u64,
    /// Blocks that were split because a part of them was freed.
    splits: u64,
    /// Splits and frees that failed in the engine.
    refused: u64,
    /// The outcomes of background moves, and the page count at which background moves stop; `None` during moves for a
    /// request.
    tries: Tries,
    background_limit: Option<u64>,
}

/// The reason of a free of a traced block.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::replay) enum FreedBy {
    /// The owner freed the block: the replayed block is freed, too.
    Owner,
    /// Compaction moved the pages to a place that no event names: the replayed block stays in use.
    Compaction,
}

/// The blocks that were in use in the frames of a freed traced block.
#[derive(Clone, Copy, Default)]
pub(in crate::replay) struct Released {
    /// The number of blocks, including blocks that the replay could not allocate.
    pub(in crate::replay) pieces: u64,
    /// The number of blocks that the replay could not allocate.
    pub(in crate::replay) skipped: u64,
    /// The number of pages that were not in use.
    pub(in crate::replay) unknown_pages: u64,
}

impl<'f, 'm> Holders<'f, 'm> {
    /// Returns the ledger at the start, with the blocks in use then that events free later.
    pub(in crate::replay) fn at_start(
        memory: &'f Memory<'m, ReplayPlatform>,
        machine: &RecordedMachine,
        start: &Start,
        moves: MoveCost,
    ) -> Self {
        let mut cache = VecDeque::new();
        let traced = TracedFrames::at_start(machine, start, |place| cache.push_back(place as u32));
        let cache = PageCache::new(cache);
        let (moved, places) = (MovedBlocks::default(), Places::default());
        let tries = Tries::new(moves.fails_of_1024);
        Self {
            memory,
            traced,
            moved,
            places,
            cache,
            left_to_trace: 0,
            splits: 0,
            refused: 0,
            tries,
            background_limit: None,
        }
    }

    /// Returns the memory of the replay.
    pub(in crate::replay) fn memory(&self) -> &'f Memory<'m, ReplayPlatform> {
        self.memory
    }

    /// Calls `moving`, which may move about `most` pages in the background (up to one block more). The share of
    /// failed moves is that of the machine. Returns the number of pages in attempted moves.
    pub(in crate::replay) fn in_background(&mut self, most: u64, moving: impl FnOnce(&mut Self)) -> u64 {
        let before = self.tries.pages;
        self.background_limit = Some(before + most);
        moving(self);
        self.background_limit = None;
        self.tries.pages - before
    }

    /// Finds a traced block that is inside one zone.
    #[inline]
    pub(in crate::replay) fn find(&mut self, pfn: Pfn, order: Order) -> Option<At> {
        self.traced.find(pfn, order)
    }

    /// Returns the node of a traced frame.
    pub(in crate::replay) fn node(&self, at: At) -> u16 {
        self.traced.node(at)
    }

    /// Returns true if no frame of a traced block is in use.
    #[inline]
    pub(in crate::replay) fn is_unknown(&self, at: At, order: Order) -> bool {
        self.traced.is_unknown(at, order)
    }

    /// Maps a traced block to a replayed block.
    #[inline]
    pub(in crate::replay) fn hold(&mut self, at: At, order: Order, replayed: Pfn, pages: Pages) {
        self.traced.set(at, order, Entry::in_use(order, replayed, pages));
        if self.places.is_built() {
            let place = self.traced.place(at);
            self.places.note(&mut self.traced, replayed, Holder::Traced(place));
        }
        if pages == Pages::Cache {
            self.cache.push(self.traced.place(at), &self.traced);
        }
    }

    /// Records a traced block that the replay could not allocate.
    pub(in crate::replay) fn skip(&mut self, at: At, order: Order) {
        self.traced.set(at, order, Entry::skipped(order));
    }

    /// Releases all blocks in use between the first and the last frame of a traced block. If the frames are part of a
    /// larger block, splits that block first.
    #[inline]
    pub(in crate::replay) fn release(&mut self, cpu: u16, at: At, order: Order, by: FreedBy) -> Released {
        match self.traced.get(at) {
            Traced::InUse(size, replayed) if size == order => {
                self.traced.clear(at, order);
                self.release_block(cpu, replayed, order, by);
                Released { pieces: 1, ..Released::default() }
            }
            Traced::InUse(size, _) | Traced::Skipped(size) | Traced::Inside(size) if size > order => {
                self.split(self.traced.head(at, size), size, order);
                self.release_pieces(cpu, at, order, by)
            }
            _ => self.release_pieces(cpu, at, order, by),
        }
    }

    fn split(&mut self, head: At, from: Order, to: Order) {
        self.splits += 1;
        if let Traced::InUse(_, replayed) = self.traced.get(head)
            && self.memory.split(replayed, from, to).is_err()
        {
            self.refused += 1;
        }
        self.traced.split(head, from, to);
        let pieces = if self.places.is_built() { 1_u64 << (from.get() - to.get()) } else { 0 };
        for piece in 0..pieces {
            let at = TracedFrames::behind(head, piece << to.get());
            if let Traced::InUse(_, replayed) = self.traced.get(at) {
                let place = self.traced.place(at);
                self.places.note(&mut self.traced, replayed, Holder::Traced(place));
            }
        }
    }

    fn release_pieces(&mut self, cpu: u16, at: At, order: Order, by: FreedBy) -> Released {
        let mut released = Released::default();
        let mut offset = 0;
        while offset < order.pages() {
            let piece = TracedFrames::behind(at, offset);
            let size = match self.traced.get(piece) {
                Traced::InUse(size, replayed) => {
                    self.traced.clear(piece, size);
                    self.release_block(cpu, replayed, size, by);
                    released.pieces += 1;
                    size
                }
                Traced::Skipped(size) => {
                    self.traced.clear(piece, size);
                    released.pieces += 1;
                    released.skipped += 1;
                    size
                }
                Traced::Unknown | Traced::Inside(_) => {
                    released.unknown_pages += 1;
                    Order::ZERO
                }
            };
            offset += size.pages();
        }
        released
    }

    #[inline]
    fn release_block(&mut self, cpu: u16, replayed: Pfn, order: Order, by: FreedBy) {
        if by == FreedBy::Compaction {
            self.keep_moved(replayed, order);
        } else {
            self.give_back(cpu, replayed, order);
        }
    }

    /// Keeps a block whose traced place was freed by compaction: its pages are still in use elsewhere.
    fn keep_moved(&mut self, replayed: Pfn, order: Order) {
        let number = self.moved.keep(replayed, order);
        self.places.note(&mut self.traced, replayed, Holder::Moved(number));
    }

    /// Frees a block that the machine had moved, for a free without a known allocation. Returns true if there was
    /// such a block.
    pub(in crate::replay) fn free_moved(&mut self, cpu: u16, order: Order) -> bool {
        let Some((replayed, mut size)) = self.moved.take(order) else { return false };
        while let Some(half) = size.down().filter(|&half| half >= order) {
            if self.memory.split(replayed, size, half).is_err() {
                self.refused += 1;
            }
            self.keep_moved(replayed.add(half.pages()), half);
            size = half;
        }
        self.give_back(cpu, replayed, order);
        true
    }

    /// Frees a replayed block that has no owner in the ledger any more.
    #[inline]
    pub(in crate::replay) fn give_back(&mut self, cpu: u16, replayed: Pfn, order: Order) {
        if self.memory.free(cpu, replayed, order).is_err() {
            self.refused += 1;
        }
    }

    /// Writes the counts and the blocks in use into the measures; `huge` is the order of huge pages.
    pub(in crate::replay) fn finish(&self, huge: Order, followed: &mut Followed) {
        let (in_use, (moved_blocks, moved_pages)) = (self.traced.in_use(), self.moved.kept());
        let pages: u64 = in_use.iter().enumerate().map(|(order, blocks)| blocks << order).sum();
        followed.in_use_at_end = in_use.iter().sum::<u64>() + moved_blocks;
        followed.pages_in_use_at_end = pages + moved_pages;
        followed.huge_pages_in_use_at_end = in_use.of(huge.index());
        followed.left_to_trace = self.left_to_trace;
        followed.splits = self.splits;
        followed.refused = self.refused;
    }

    /// Returns the owner of the replayed block that starts at a frame.
    fn holder(&mut self, replayed: Pfn) -> Holder {
        self.places.build(&mut self.traced, &self.moved);
        self.places.holder(&mut self.traced, &self.moved, replayed)
    }

    /// Reclaims the oldest block of page cache. Returns its pages; `None` if no page cache is left.
    fn reclaim_oldest(&mut self, cpu: u16) -> Option<u64> {
        let at = self.traced.at_place(self.cache.pop(&self.traced)?);
        let Traced::InUse(order, replayed) = self.traced.get(at) else { return Some(0) };
        if self.memory.free(cpu, replayed, order).is_err() {
            return Some(0);
        }
        self.traced.set(at, order, Entry::skipped(order));
        Some(order.pages())
    }
}

impl Relocate for Holders<'_, '_> {
    fn is_movable(&mut self, pfn: Pfn, order: Order) -> bool {
        if self.background_limit.is_some_and(|most| self.tries.pages >= most) {
            return false;
        }
        match self.holder(pfn) {
            Holder::Traced(place) => self.traced.entry(self.traced.at_place(place)).pages() != Pages::Pinned,
            Holder::Moved(_) => true,
            Holder::Untraced => self.memory.allocated_block(pfn) == Some((order, Migratetype::Movable)),
        }
    }

    fn relocate(&mut self, from: Pfn, to: Pfn, order: Order) -> bool {
        if self.background_limit.is_some() && !self.tries.succeeds(order) {
            return false;
        }
        let holder = self.holder(from);
        match holder {
            Holder::Traced(place) => {
                let at = self.traced.at_place(place);
                let pages = self.traced.entry(at).pages();
                self.traced.set(at, order, Entry::in_use(order, to, pages));
            }
            Holder::Moved(number) => self.moved.relocated(number, to),
            Holder::Untraced => {}
        }
        self.places.note(&mut self.traced, to, holder);
        true
    }
}

impl Shrinker<ReplayPlatform> for Holders<'_, '_> {
    /// Reclaims page cache for a request, the oldest first. For kswapd, reclaims nothing: pages that the machine's
    /// kswapd reclaimed are frees in the trace. Counts the requested pages and reports them as reclaimed.
    fn shrink(&mut self, _: &Memory<'_, ReplayPlatform>, control: ShrinkControl) -> Reclaimed {
        if control.reclaimer == Reclaimer::Kswapd {
            // For a large block, kswapd reclaims twice its pages, and kcompactd does the rest.
            let mut pages = 2 * control.order.pages();
            if control.clean_only {
                let zones = self.memory.zones().iter().filter(|zone| zone.node() == control.node);
                pages = zones.map(freehold::Zone::watermark_boost).sum();
                self.left_to_trace += pages;
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
        // Page cache is not counted by zone: all of it counts for the largest zone.
        let main = self.memory.zones().iter().max_by_key(|zone| zone.end().0 - zone.start().0);
        if main.is_some_and(|main| main.kind() == zone) { self.cache.len() } else { 0 }
    }
}
