//! Runs of adjacent blocks.

use super::frame::FrameIndex;
use crate::types::Order;

/// Adjacent blocks of one order, in the order in which a list has them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Run {
    pub(crate) first: FrameIndex,
    pub(crate) blocks: u32,
    pub(crate) order: Order,
    /// True if the blocks go towards lower addresses.
    pub(crate) down: bool,
}

impl Run {
    pub(crate) const fn single(first: FrameIndex, order: Order) -> Self {
        Self { first, blocks: 1, order, down: false }
    }

    /// Returns the block with this number, counted from 0.
    pub(crate) const fn block(self, number: u32) -> FrameIndex {
        FrameIndex(self.first.0.wrapping_add(number.wrapping_mul(self.step())))
    }

    /// Returns the distance from one block to the next, in frames.
    const fn step(self) -> u32 {
        let pages = 1_u32 << self.order.get();
        if self.down { pages.wrapping_neg() } else { pages }
    }

    /// Returns the blocks from the first on.
    pub(crate) fn iter(self) -> impl Iterator<Item = FrameIndex> {
        (0..self.blocks).map(move |number| self.block(number))
    }

    pub(crate) const fn pages(self) -> u32 {
        self.blocks << self.order.get()
    }

    /// Returns the first `blocks` blocks; the run has more.
    pub(crate) const fn head(self, blocks: u32) -> Self {
        Self { blocks, ..self }
    }

    /// Returns the blocks behind the first `blocks`; the run has more.
    pub(crate) const fn rest(self, blocks: u32) -> Self {
        Self { first: self.block(blocks), blocks: self.blocks - blocks, ..self }
    }

    /// Returns the first `blocks` blocks, or all if there are fewer, and the others.
    pub(crate) fn split(self, blocks: u32) -> (Self, Self) {
        let blocks = blocks.min(self.blocks);
        let rest = if blocks < self.blocks { self.rest(blocks) } else { Self { blocks: 0, ..self } };
        (Self { blocks, ..self }, rest)
    }

    /// Returns the first frame and the order of the largest block, up to order `limit`, that consists of the first
    /// blocks of the run.
    pub(crate) fn first_aligned_part(self, limit: Order) -> (FrameIndex, Order) {
        let step = self.order.get();
        // The end of the run that the part shares, in blocks of the run's order.
        let bound = (self.first.0 >> step) + u32::from(self.down);
        let most = limit.get().saturating_sub(step).into();
        let doublings = bound.trailing_zeros().min(self.blocks.ilog2()).min(most);
        let start = if self.down { bound - (1 << doublings) } else { bound };
        (FrameIndex(start << step), Order::new(step + doublings as u8).unwrap_or(self.order))
    }

    /// Returns the same blocks from the last to the first.
    pub(crate) const fn reversed(self) -> Self {
        Self { first: self.block(self.blocks - 1), down: !self.down, ..self }
    }

    /// Returns the run extended by the block at `index`, or `None` if the block does not continue the run.
    #[inline]
    pub(crate) fn with_next(self, index: FrameIndex) -> Option<Self> {
        let longer = Self { blocks: self.blocks + 1, ..self };
        let is_behind = index == self.block(self.blocks);
        let turned = Self { down: true, ..longer };
        if is_behind {
            return Some(longer);
        }
        (self.blocks == 1 && index == turned.block(1)).then_some(turned)
    }

    /// Returns true if `other` continues this run towards higher addresses.
    pub(crate) fn is_continued_by(self, other: Self) -> bool {
        let upwards = !self.down && !other.down && self.order == other.order;
        upwards && self.block(self.blocks) == other.first
    }
}
