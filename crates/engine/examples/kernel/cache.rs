//! A page cache: pages that the kernel can move and reclaim. It is the embedder's part in reclaim and compaction.

use freehold::{
    GfpFlags, Memory, Order, Pfn, Reclaimed, Relocate, Request, ShrinkControl, Shrinker, ZoneType,
};

use crate::lock::Host;
use crate::page;
use crate::verdict::must;

/// The most pages of a cache.
pub(crate) const MOST: usize = 4096;

/// The first word of the page in place 0. Each further place adds one.
const MARK: u64 = 0x00ca_c4e0_0000_0000;

/// The least number of pages that reclaim scans.
const LEAST: usize = 32;

/// A number whose multiples modulo 2^32 are evenly spread: 2^32 divided by the golden ratio.
const SCATTER: u32 = 0x9e37_79b1;

/// Single movable pages. The first word of each page names its place. Only CPU 0 has a cache.
pub(crate) struct Cache {
    /// The pages. Frame 0, which is never allocated, marks an empty place.
    pages: [Pfn; MOST],
    len: usize,
    /// The position where reclaim continues, a multiple of [`SCATTER`].
    evicted: u32,
    /// Pages that were moved.
    pub(crate) moved: u64,
}

impl Cache {
    #[expect(clippy::large_stack_arrays, reason = "it is called for a static")]
    pub(crate) const fn new() -> Self {
        Self { pages: [Pfn(0); MOST], len: 0, evicted: 0, moved: 0 }
    }

    /// Takes over a movable page.
    pub(crate) fn add(&mut self, pfn: Pfn) {
        page::stamp(pfn, Order::ZERO, MARK + self.len as u64);
        self.pages[self.len] = pfn;
        self.len += 1;
    }

    /// Splits a movable block that the caller owns, keeps every `nth` page of it, and frees the others.
    pub(crate) fn add_every(&mut self, nth: u64, memory: &Memory<'_, Host>, block: (Pfn, Order)) {
        let (pfn, order) = block;
        must(memory.split(pfn, order, Order::ZERO) == Ok(()), "an owner splits its block");
        for at in 0..order.pages() {
            if at % nth == 0 {
                self.add(pfn.add(at));
            } else {
                must(memory.free(0, pfn.add(at), Order::ZERO) == Ok(()), "a page of a split block is freed");
            }
        }
    }

    /// Frees all pages.
    pub(crate) fn empty(&mut self, memory: &Memory<'_, Host>) {
        while self.len > 0 {
            self.free(memory, 0, self.len - 1);
        }
    }

    /// Frees the page of a place, and puts the last page there.
    fn free(&mut self, memory: &Memory<'_, Host>, cpu: u16, place: usize) {
        let pfn = self.pages[place];
        must(self.place(pfn) == Some(place), "a page of the cache has its contents");
        must(memory.free(cpu, pfn, Order::ZERO) == Ok(()), "a page of the cache is freed");
        self.len -= 1;
        if place < self.len {
            self.pages[place] = self.pages[self.len];
            page::stamp(self.pages[place], Order::ZERO, MARK + place as u64);
        }
    }

    /// Returns the place of a page, or `None` if the page is not in the cache.
    fn place(&self, pfn: Pfn) -> Option<usize> {
        let place = page::read(pfn).wrapping_sub(MARK) as usize;
        (place < self.len && self.pages[place] == pfn).then_some(place)
    }

    /// Returns true if no page lies in a range.
    pub(crate) fn is_outside(&self, start: Pfn, pages: u64) -> bool {
        !self.pages[..self.len].iter().any(|pfn| (start..start.add(pages)).contains(pfn))
    }
}

impl Relocate for Cache {
    fn is_movable(&mut self, pfn: Pfn, order: Order) -> bool {
        order == Order::ZERO && self.place(pfn).is_some()
    }

    fn relocate(&mut self, from: Pfn, to: Pfn, _: Order) -> bool {
        let Some(place) = self.place(from) else { return false };
        page::copy(from, to);
        self.pages[place] = to;
        self.moved += 1;
        true
    }
}

impl Shrinker<Host> for Cache {
    fn shrink(&mut self, memory: &Memory<'_, Host>, control: ShrinkControl) -> Reclaimed {
        let part = (self.len >> control.priority).max(LEAST).min(self.len);
        let pages = part.min(control.wanted as usize);
        for _ in 0..pages {
            // The oldest pages of a cache are scattered over memory.
            self.evicted = self.evicted.wrapping_add(SCATTER);
            self.free(memory, control.cpu, self.evicted as usize % self.len);
        }
        Reclaimed { scanned: pages as u64, reclaimed: pages as u64 }
    }

    fn reclaimable_pages(&mut self, _: u16, zone: ZoneType) -> u64 {
        let pages = self.pages[..self.len].iter();
        pages.filter(|pfn| (pfn.0 < 4 << 18) == (zone == ZoneType::Dma32)).count() as u64
    }
}

/// A movable request of CPU 0, which may wait for kswapd.
pub(crate) fn movable(order: Order) -> Request {
    Request { cpu: 0, node: 0, order, gfp: GfpFlags::HIGHUSER_MOVABLE }
}
