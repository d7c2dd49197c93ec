//! What an embedder does for compaction.

use crate::types::{Order, Pfn};

/// Moves the contents of blocks in use: whoever knows the users of pages does.
///
/// Linux counterpart: what `isolate_migratepages_block` asks of a folio, and `migrate_pages`.
pub trait Relocate {
    /// Returns true if a block in use may be moved.
    ///
    /// An embedder that answers yes keeps the block from being freed until it was asked to
    /// relocate it, or until the call into the engine returns: the engine may pick a block and
    /// then leave it where it is.
    fn is_movable(&mut self, pfn: Pfn, order: Order) -> bool;

    /// Moves the contents of the block at `from` to the block at `to`, both of `order`.
    ///
    /// After `true` the embedder owns `to`, and the engine frees `from`; after `false` nothing
    /// has changed. The memory must not be asked for pages from here.
    fn relocate(&mut self, from: Pfn, to: Pfn, order: Order) -> bool;
}

/// Nobody's pages can be moved.
impl Relocate for () {
    fn is_movable(&mut self, _: Pfn, _: Order) -> bool {
        false
    }

    fn relocate(&mut self, _: Pfn, _: Pfn, _: Order) -> bool {
        false
    }
}
