//! The interface of every side of a benchmark.

use freehold::{Order, Pfn};

/// An allocator of blocks of pages: one side of a benchmark.
///
/// Each handle or peer is a small type with this trait.
pub trait Pages {
    /// Allocates a block.
    fn alloc(&mut self, order: Order) -> Option<Pfn>;

    /// Frees a block. Returns true if it was freed.
    fn free(&mut self, pfn: Pfn, order: Order) -> bool;

    /// Frees pages that are cached, such as on per-CPU lists.
    fn give_back(&mut self) {}

    /// Fills empty places in order. Returns how many places are filled.
    fn alloc_batch(&mut self, order: Order, places: &mut [Option<Pfn>]) -> usize {
        for (filled, place) in places.iter_mut().enumerate() {
            *place = self.alloc(order);
            if place.is_none() {
                return filled;
            }
        }
        places.len()
    }

    /// Frees the blocks of all places and empties them. Returns true if all were freed.
    fn free_batch(&mut self, order: Order, places: &mut [Option<Pfn>]) -> bool {
        let mut all = true;
        for pfn in places.iter_mut().filter_map(Option::take) {
            all &= self.free(pfn, order);
        }
        all
    }
}
