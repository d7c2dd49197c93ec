//! Doubly linked lists of blocks. The links are in the frame table.

use super::frame::{FrameIndex, NIL};
use super::frame_table::FrameTable;

/// The end of a list where a block enters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    Head,
    Tail,
}

/// A list of blocks. Only the holder of the lock that protects the list may change it.
///
/// Both ends are frame indices, so that a list takes 8 bytes.
#[derive(Debug)]
pub(crate) struct BlockList {
    first: u32,
    last: u32,
}

impl Default for BlockList {
    fn default() -> Self {
        Self::EMPTY
    }
}

const fn block(link: u32) -> Option<FrameIndex> {
    if link == NIL { None } else { Some(FrameIndex(link)) }
}

impl BlockList {
    pub(crate) const EMPTY: Self = Self { first: NIL, last: NIL };

    pub(crate) fn first(&self) -> Option<FrameIndex> {
        block(self.first)
    }

    pub(crate) fn last(&self) -> Option<FrameIndex> {
        block(self.last)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first == NIL
    }

    /// Puts a block at one end of the list.
    #[inline]
    pub(crate) fn insert(&mut self, frames: &FrameTable<'_>, index: FrameIndex, place: Place) {
        let links = frames.links(index);
        match place {
            Place::Head => {
                links.set_previous(NIL);
                links.set_next(self.first);
                match block(self.first) {
                    Some(after) => frames.links(after).set_previous(index.0),
                    None => self.last = index.0,
                }
                self.first = index.0;
            }
            Place::Tail => {
                links.set_previous(self.last);
                links.set_next(NIL);
                match block(self.last) {
                    Some(before) => frames.links(before).set_next(index.0),
                    None => self.first = index.0,
                }
                self.last = index.0;
            }
        }
    }

    /// Removes a block from the list.
    #[inline]
    pub(crate) fn remove(&mut self, frames: &FrameTable<'_>, index: FrameIndex) {
        let links = frames.links(index);
        let (before, after) = (links.previous(), links.next());
        match block(before) {
            Some(before) => frames.links(before).set_next(after),
            None => self.first = after,
        }
        match block(after) {
            Some(after) => frames.links(after).set_previous(before),
            None => self.last = before,
        }
    }

    /// Takes the first block from the list.
    pub(crate) fn take_first(&mut self, frames: &FrameTable<'_>) -> Option<FrameIndex> {
        let first = self.first()?;
        self.remove(frames, first);
        Some(first)
    }

    /// Returns the blocks from first to last.
    pub(crate) fn iter<'f>(&self, frames: &'f FrameTable<'_>) -> impl Iterator<Item = FrameIndex> + 'f {
        core::iter::successors(self.first(), |&index| frames.next(index))
    }
}
