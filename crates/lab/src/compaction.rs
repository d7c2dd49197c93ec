//! Pages that compaction moved: where they were is known, where they went is not.

use std::collections::VecDeque;

use freehold::{MAX_ORDERS, Order, Pfn};

/// The tasks that compact.
#[derive(Default)]
pub(crate) struct Running(Vec<i32>);

impl Running {
    pub(crate) fn begin(&mut self, pid: i32) {
        self.0.push(pid);
    }

    pub(crate) fn end(&mut self, pid: i32) {
        self.0.retain(|&running| running != pid);
    }

    /// Whether what the task frees are the old places of moved pages.
    #[inline]
    pub(crate) fn contains(&self, pid: i32) -> bool {
        !self.0.is_empty() && self.0.contains(&pid)
    }
}

/// What compaction has under way, and the replayed blocks of the pages that it moved.
///
/// A task that compacts frees the old places of what it moves, with an event, and takes the
/// new ones without. To the replay nothing is freed: the block stays in use, until somebody
/// frees a block that nobody allocated, which is where such a page had gone.
#[derive(Default)]
pub(crate) struct Compaction {
    pub(crate) running: Running,
    moved: [VecDeque<Pfn>; MAX_ORDERS],
}

impl Compaction {
    /// Keeps the replayed block of pages whose new place is not known.
    pub(crate) fn keep(&mut self, replayed: Pfn, order: Order) {
        self.moved[order.index()].push_back(replayed);
    }

    /// The block moved longest ago that has this order, or else the smallest larger one.
    pub(crate) fn take(&mut self, order: Order) -> Option<(Pfn, Order)> {
        order.up_to(Order::MAX).find_map(|size| Some((self.moved[size.index()].pop_front()?, size)))
    }

    /// Blocks whose new place is still not known, and their pages.
    pub(crate) fn kept(&self) -> (u64, u64) {
        let by_order = self.moved.iter().enumerate();
        by_order.fold((0, 0), |(blocks, pages), (order, moved)| {
            let count = moved.len() as u64;
            (blocks + count, pages + (count << order))
        })
    }
}
