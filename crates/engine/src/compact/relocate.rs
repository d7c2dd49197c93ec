//! The embedder's part in compaction: the trait that moves pages.

use crate::types::{Order, Pfn};

/// Moves the contents of allocated blocks. The embedder implements it, because it knows the users of each block.
///
/// Linux counterpart: what `isolate_migratepages_block` asks of a folio, and `migrate_pages`.
pub trait Relocate {
    /// Returns true if an allocated block may be moved.
    ///
    /// If the embedder returns true, it must keep the block from being freed until the engine calls
    /// [`Relocate::relocate`] for the block, or until the call into the engine returns. The engine need not move the
    /// block.
    fn is_movable(&mut self, pfn: Pfn, order: Order) -> bool;

    /// Moves the contents of the block at `from` to the block at `to`, both of `order`.
    ///
    /// Returns true if the contents have moved: the embedder then owns `to`, and the engine frees `from`. If it returns
    /// false, nothing has changed. The implementation must not allocate from the memory.
    fn relocate(&mut self, from: Pfn, to: Pfn, order: Order) -> bool;
}

/// No page can be moved.
impl Relocate for () {
    fn is_movable(&mut self, _: Pfn, _: Order) -> bool {
        false
    }

    fn relocate(&mut self, _: Pfn, _: Pfn, _: Order) -> bool {
        false
    }
}
