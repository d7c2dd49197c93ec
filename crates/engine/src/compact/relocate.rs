//! The embedder's part in compaction.

use crate::types::{Order, Pfn};

/// Moves the contents of blocks in use, for an embedder that knows who uses them.
///
/// Linux counterpart: what `isolate_migratepages_block` asks of a folio, and `migrate_pages`.
pub trait Relocate {
    /// Returns true if a block in use may be moved.
    ///
    /// An embedder that returns true keeps the block from being freed until the engine asks to relocate
    /// the block, or until the call into the engine returns. The engine may leave such a block where it
    /// is.
    fn is_movable(&mut self, pfn: Pfn, order: Order) -> bool;

    /// Moves the contents of the block at `from` to the block at `to`, both of `order`.
    ///
    /// Returns true if the contents have moved: the embedder then owns `to`, and the engine frees `from`.
    /// After false nothing has changed. The memory must not be asked for pages from here.
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
