//! Pages that compaction moved: where they were is known, where they went is not.

use std::collections::VecDeque;

use freehold::{MAX_ORDERS, Order, Pfn};

/// No replayed block.
const NOWHERE: Pfn = Pfn(u64::MAX);

/// The replayed blocks of the pages that compaction moved.
///
/// A task that compacts frees the old places of what it moves, with an event, and takes the
/// new ones without. To the replay nothing is freed: the block stays in use, until somebody
/// frees a block that nobody allocated, which is where such a page had gone.
#[derive(Default)]
pub(super) struct MovedBlocks {
    /// The numbers of their blocks.
    moved: [VecDeque<u32>; MAX_ORDERS],
    blocks: Vec<Pfn>,
    /// Numbers that no block has any more.
    unused: Vec<u32>,
}

impl MovedBlocks {
    /// Keeps the replayed block of pages whose new place is not known; returns its number.
    pub(super) fn keep(&mut self, replayed: Pfn, order: Order) -> u32 {
        let number = self.unused.pop().unwrap_or(self.blocks.len() as u32);
        match self.blocks.get_mut(number as usize) {
            Some(block) => *block = replayed,
            None => self.blocks.push(replayed),
        }
        self.moved[order.index()].push_back(number);
        number
    }

    /// The block moved longest ago that has this order, or else the smallest larger one.
    pub(super) fn take(&mut self, order: Order) -> Option<(Pfn, Order)> {
        let (number, size) =
            order.up_to(Order::MAX).find_map(|size| Some((self.moved[size.index()].pop_front()?, size)))?;
        self.unused.push(number);
        let block = std::mem::replace(&mut self.blocks[number as usize], NOWHERE);
        Some((block, size))
    }

    /// The replayed block with a number.
    pub(super) fn block(&self, number: u32) -> Option<Pfn> {
        self.blocks.get(number as usize).copied()
    }

    /// Every block that is kept, with its number.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (u32, Pfn)> + '_ {
        (0..).zip(self.blocks.iter().copied()).filter(|&(_, block)| block != NOWHERE)
    }

    /// Notes that the replay itself has moved a block.
    pub(super) fn relocated(&mut self, number: u32, to: Pfn) {
        self.blocks[number as usize] = to;
    }

    /// Blocks whose new place is still not known, and their pages.
    pub(super) fn kept(&self) -> (u64, u64) {
        let by_order = self.moved.iter().enumerate();
        by_order.fold((0, 0), |(blocks, pages), (order, moved)| {
            let count = moved.len() as u64;
            (blocks + count, pages + (count << order))
        })
    }
}
