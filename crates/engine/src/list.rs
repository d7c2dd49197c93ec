//! Lists of blocks, linked through the frame table.

use crate::frame::{Frame, FrameIndex, FrameTable, NIL};

/// Where a block enters a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    Head,
    Tail,
}

/// A list of blocks. Whoever may change it holds the lock of its owner.
///
/// Both ends are links as frames have them, so that a list takes 8 bytes.
#[derive(Debug)]
pub(crate) struct BlockList {
    first: u32,
    last: u32,
}

impl Default for BlockList {
    fn default() -> Self {
        Self { first: NIL, last: NIL }
    }
}

const fn block(link: u32) -> Option<FrameIndex> {
    if link == NIL { None } else { Some(FrameIndex(link)) }
}

impl BlockList {
    pub(crate) fn first(&self) -> Option<FrameIndex> {
        block(self.first)
    }

    pub(crate) fn last(&self) -> Option<FrameIndex> {
        block(self.last)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first == NIL
    }

    /// Puts a block, whose frame the caller has looked up, at an end.
    #[inline]
    pub(crate) fn insert(&mut self, frames: &FrameTable<'_>, index: FrameIndex, frame: &Frame, place: Place) {
        match place {
            Place::Head => self.push_first(frames, index, frame),
            Place::Tail => {
                frame.set_previous(self.last);
                frame.set_next(NIL);
                match block(self.last) {
                    Some(before) => frames.frame(before).set_next(index.0),
                    None => self.first = index.0,
                }
                self.last = index.0;
            }
        }
    }

    /// Puts a block, whose frame the caller has looked up, at the head.
    #[inline]
    pub(crate) fn push_first(&mut self, frames: &FrameTable<'_>, index: FrameIndex, frame: &Frame) {
        frame.set_previous(NIL);
        frame.set_next(self.first);
        match block(self.first) {
            Some(after) => frames.frame(after).set_previous(index.0),
            None => self.last = index.0,
        }
        self.first = index.0;
    }

    /// Takes the first block off the list; its frame comes with it.
    #[inline]
    pub(crate) fn pop_first<'f>(&mut self, frames: &FrameTable<'f>) -> Option<(FrameIndex, &'f Frame)> {
        let index = block(self.first)?;
        let frame = frames.frame(index);
        self.first = frame.next();
        match block(self.first) {
            Some(after) => frames.frame(after).set_previous(NIL),
            None => self.last = NIL,
        }
        Some((index, frame))
    }

    /// Takes a block, whose frame the caller has looked up, off the list.
    #[inline]
    pub(crate) fn remove(&mut self, frames: &FrameTable<'_>, frame: &Frame) {
        let (before, after) = (frame.previous(), frame.next());
        match block(before) {
            Some(before) => frames.frame(before).set_next(after),
            None => self.first = after,
        }
        match block(after) {
            Some(after) => frames.frame(after).set_previous(before),
            None => self.last = before,
        }
    }

    /// The blocks from first to last.
    pub(crate) fn iter<'f>(&self, frames: &'f FrameTable<'_>) -> impl Iterator<Item = FrameIndex> + 'f {
        core::iter::successors(self.first(), |&index| frames.next(index))
    }
}
