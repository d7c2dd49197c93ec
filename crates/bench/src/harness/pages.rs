//! What every side of a benchmark can do.

use freehold::{Order, Pfn};

/// Something that hands out blocks of pages: one side of a benchmark.
///
/// A new handle or a peer is one more small type with this trait.
pub trait Pages {
    /// Hands out a block.
    fn alloc(&mut self, order: Order) -> Option<Pfn>;

    /// Takes a block back; whether it was taken.
    fn free(&mut self, pfn: Pfn, order: Order) -> bool;

    /// Gives back free pages that are kept aside, where there are such.
    fn give_back(&mut self) {}

    /// Fills empty places from the first on; returns how many places are filled.
    fn alloc_many(&mut self, order: Order, places: &mut [Option<Pfn>]) -> usize {
        for (filled, place) in places.iter_mut().enumerate() {
            *place = self.alloc(order);
            if place.is_none() {
                return filled;
            }
        }
        places.len()
    }

    /// Takes the blocks of all places back and empties them; whether all were taken.
    fn free_many(&mut self, order: Order, places: &mut [Option<Pfn>]) -> bool {
        let mut all = true;
        for pfn in places.iter_mut().filter_map(Option::take) {
            all &= self.free(pfn, order);
        }
        all
    }
}
