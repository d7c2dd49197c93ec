//! Blocks of an order, N at a time: the micro-benchmark of page allocation.
//!
//! For orders 4 and 0 and each N from 1 to 1024, by powers of two, one CPU allocates N blocks
//! and frees them again, oldest first, in bursts of 1024 blocks altogether. Around it lies a memory
//! that has been in use: three quarters of the pageblocks are full but for one page in four.
//! Source: the `pagealloc` figures of the counts per migratetype, linux-mm, November 2025.

use freehold::{GfpFlags, Order};

use super::fragments::{fill, free_here_and_there};
use super::host::{Ask, Host, Task};
use super::load::Load;
use super::users::Use;

/// The most blocks held at once.
const MOST: u64 = 1024;

/// The orders, one after the other.
const ORDERS: [Order; 2] = [
    match Order::new(4) {
        Some(order) => order,
        None => Order::MAX_PAGE_ORDER,
    },
    Order::ZERO,
];

/// The state of the benchmark.
#[derive(Debug)]
pub(super) struct Pagealloc {
    order: usize,
    at_once: u64,
    passes: u64,
}

impl Pagealloc {
    pub(super) fn new() -> Self {
        Self { order: 0, at_once: 1, passes: 0 }
    }
}

impl Load for Pagealloc {
    fn settle(&mut self, host: &mut Host<'_, '_>) {
        let keep_free = host.pages() / 4;
        let mut pages = fill(host, [8, 1, 1], keep_free);
        for of_a_type in &mut pages {
            free_here_and_there(host, of_a_type, 4);
        }
    }

    fn step(&mut self, host: &mut Host<'_, '_>) {
        let task = Task { cpu: 0, pid: 1000 };
        let gfp = GfpFlags::KERNEL | GfpFlags::COMP;
        let ask = Ask { order: ORDERS[self.order], gfp, used_for: Use::Kernel };
        for _ in 0..MOST / self.at_once {
            let blocks: Vec<_> = (0..self.at_once).filter_map(|_| host.alloc(task, ask)).collect();
            for block in blocks {
                host.free(task, block);
            }
        }
        self.at_once *= 2;
        if self.at_once > MOST {
            (self.at_once, self.order) = (1, (self.order + 1) % ORDERS.len());
            self.passes += u64::from(self.order == 0);
        }
    }

    fn is_done(&self) -> bool {
        self.passes > 0
    }
}
