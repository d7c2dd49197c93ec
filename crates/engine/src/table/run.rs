//! Blocks side by side.

use super::frame::FrameIndex;
use crate::types::Order;

/// Blocks of one order that lie side by side, in the order in which a list has them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Run {
    pub(crate) first: FrameIndex,
    pub(crate) blocks: u32,
    pub(crate) order: Order,
    /// Whether the second lies below the first.
    pub(crate) down: bool,
}

impl Run {
    pub(crate) const fn single(first: FrameIndex, order: Order) -> Self {
        Self { first, blocks: 1, order, down: false }
    }

    /// The block with this number, counted from 0.
    pub(crate) const fn block(self, number: u32) -> FrameIndex {
        FrameIndex(self.first.0.wrapping_add(number.wrapping_mul(self.step())))
    }

    /// From one block to the next.
    const fn step(self) -> u32 {
        let pages = 1_u32 << self.order.get();
        if self.down { pages.wrapping_neg() } else { pages }
    }

    /// The blocks from the first on.
    pub(crate) fn iter(self) -> impl Iterator<Item = FrameIndex> {
        (0..self.blocks).map(move |number| self.block(number))
    }

    pub(crate) const fn pages(self) -> u32 {
        self.blocks << self.order.get()
    }

    /// The first `blocks` of it, which is not all.
    pub(crate) const fn head(self, blocks: u32) -> Self {
        Self { blocks, ..self }
    }

    /// What is left without the first `blocks`, which are not all.
    pub(crate) const fn rest(self, blocks: u32) -> Self {
        Self { first: self.block(blocks), blocks: self.blocks - blocks, ..self }
    }

    /// Up to `blocks` from the first on, and the others.
    pub(crate) fn split(self, blocks: u32) -> (Self, Self) {
        let blocks = blocks.min(self.blocks);
        let rest = if blocks < self.blocks { self.rest(blocks) } else { Self { blocks: 0, ..self } };
        (Self { blocks, ..self }, rest)
    }

    /// The largest block that blocks from the first on make up together, up to a limit: its
    /// first frame and order.
    pub(crate) fn first_aligned_part(self, limit: Order) -> (FrameIndex, Order) {
        let step = self.order.get();
        // The bound that the part has in common with the run, in blocks of its order.
        let bound = (self.first.0 >> step) + u32::from(self.down);
        let most = limit.get().saturating_sub(step).into();
        let doublings = bound.trailing_zeros().min(self.blocks.ilog2()).min(most);
        let start = if self.down { bound - (1 << doublings) } else { bound };
        (FrameIndex(start << step), Order::new(step + doublings as u8).unwrap_or(self.order))
    }

    /// The same blocks from the last to the first.
    pub(crate) const fn reversed(self) -> Self {
        Self { first: self.block(self.blocks - 1), down: !self.down, ..self }
    }

    /// This run and a block behind it as one, if the block continues it.
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

    /// Whether both are one run upwards.
    pub(crate) fn is_continued_by(self, other: Self) -> bool {
        let upwards = !self.down && !other.down && self.order == other.order;
        upwards && self.block(self.blocks) == other.first
    }
}
