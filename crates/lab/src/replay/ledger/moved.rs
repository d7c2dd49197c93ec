//! Blocks that compaction moved on the machine to a place that no event names.

use std::collections::VecDeque;

use freehold::{MAX_ORDERS, Order, Pfn};

/// Marks a number without a replayed block.
const NOWHERE: Pfn = Pfn(u64::MAX);

/// The replayed blocks of pages that compaction moved on the machine.
///
/// A compacting task frees the old place of a page with an event, and takes the new place without one. The replay
/// frees nothing then: its block stays in use. A later free without a known allocation is the free of such a new
/// place, and the replay frees the block.
#[derive(Default)]
pub(super) struct MovedBlocks {
    /// The numbers of the blocks by order, the earliest moved first.
    moved: [VecDeque<u32>; MAX_ORDERS],
    blocks: Vec<Pfn>,
    /// The numbers available for new blocks.
    unused: Vec<u32>,
}

impl MovedBlocks {
    /// Keeps the replayed block of moved pages. Returns its number.
    pub(super) fn keep(&mut self, replayed: Pfn, order: Order) -> u32 {
        let number = self.unused.pop().unwrap_or(self.blocks.len() as u32);
        match self.blocks.get_mut(number as usize) {
            Some(block) => *block = replayed,
            None => self.blocks.push(replayed),
        }
        self.moved[order.index()].push_back(number);
        number
    }

    /// Removes the earliest moved block of this order or, if there is none, of the next larger order. Returns its
    /// first frame and order.
    pub(super) fn take(&mut self, order: Order) -> Option<(Pfn, Order)> {
        let (number, size) =
            order.up_to(Order::MAX).find_map(|size| Some((self.moved[size.index()].pop_front()?, size)))?;
        self.unused.push(number);
        let block = std::mem::replace(&mut self.blocks[number as usize], NOWHERE);
        Some((block, size))
    }

    /// Returns the replayed block with a number.
    pub(super) fn block(&self, number: u32) -> Option<Pfn> {
        self.blocks.get(number as usize).copied()
    }

    /// Returns the number and first frame of every block.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (u32, Pfn)> + '_ {
        (0..).zip(self.blocks.iter().copied()).filter(|&(_, block)| block != NOWHERE)
    }

    /// Records that the replay moved a block.
    pub(super) fn relocated(&mut self, number: u32, to: Pfn) {
        self.blocks[number as usize] = to;
    }

    /// Returns the number of blocks, and the number of their pages.
    pub(super) fn kept(&self) -> (u64, u64) {
        let by_order = self.moved.iter().enumerate();
        by_order.fold((0, 0), |(blocks, pages), (order, moved)| {
            let count = moved.len() as u64;
            (blocks + count, pages + (count << order))
        })
    }
}
