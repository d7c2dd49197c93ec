//! Lists of blocks, linked through the frame table.

use crate::frame::{FrameIndex, FrameTable};

/// Where a block enters a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    Head,
    Tail,
}

/// A list of blocks. Whoever may change it holds the lock of its owner.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct BlockList {
    first: Option<FrameIndex>,
    last: Option<FrameIndex>,
}

impl BlockList {
    pub(crate) fn first(&self) -> Option<FrameIndex> {
        self.first
    }

    pub(crate) fn last(&self) -> Option<FrameIndex> {
        self.last
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    pub(crate) fn insert(&mut self, frames: &FrameTable<'_>, index: FrameIndex, place: Place) {
        let (before, after) = match place {
            Place::Head => (None, self.first),
            Place::Tail => (self.last, None),
        };
        frames.set_previous(index, before);
        frames.set_next(index, after);
        match before {
            Some(before) => frames.set_next(before, Some(index)),
            None => self.first = Some(index),
        }
        match after {
            Some(after) => frames.set_previous(after, Some(index)),
            None => self.last = Some(index),
        }
    }

    /// Takes the first block off the list.
    pub(crate) fn pop_first(&mut self, frames: &FrameTable<'_>) -> Option<FrameIndex> {
        let index = self.first?;
        let after = frames.next(index);
        self.first = after;
        match after {
            Some(after) => frames.set_previous(after, None),
            None => self.last = None,
        }
        Some(index)
    }

    pub(crate) fn remove(&mut self, frames: &FrameTable<'_>, index: FrameIndex) {
        let (before, after) = (frames.previous(index), frames.next(index));
        match before {
            Some(before) => frames.set_next(before, after),
            None => self.first = after,
        }
        match after {
            Some(after) => frames.set_previous(after, before),
            None => self.last = before,
        }
    }

    /// The blocks from first to last.
    pub(crate) fn iter<'f>(&self, frames: &'f FrameTable<'_>) -> impl Iterator<Item = FrameIndex> + 'f {
        core::iter::successors(self.first, |&index| frames.next(index))
    }
}
