//! The load of a CPU: allocates and frees blocks of all orders and types, and checks their contents.

use core::sync::atomic::{AtomicU64, Ordering};

use freehold::{GfpFlags, MAX_ORDERS, Memory, NoReclaim, Order, Pfn, Request};

use crate::interrupt;
use crate::lock::Host;
use crate::page;
use crate::verdict::{CPUS, must};

/// The steps of a CPU's load and, in `TICKS`, the least number of interrupts meanwhile.
const STEPS: u64 = 200_000;
const TICKS: u64 = 200;

/// The most blocks that a CPU has in use.
const IN_USE: usize = 256;

/// The number of timer interrupts that count as a second, after which the CPU's lists are refreshed.
const SECOND: u64 = 50;

/// Counters of one CPU's load.
pub(crate) struct Done {
    /// Successful requests, by order.
    pub(crate) requests: [AtomicU64; MAX_ORDERS],
    pub(crate) refreshes: AtomicU64,
}

pub(crate) static DONE: [Done; CPUS] =
    [const { Done { requests: [const { AtomicU64::new(0) }; MAX_ORDERS], refreshes: AtomicU64::new(0) } };
        CPUS];

const FLAGS: [GfpFlags; 4] = [
    GfpFlags::KERNEL,
    GfpFlags::HIGHUSER_MOVABLE,
    GfpFlags::KERNEL.union(GfpFlags::RECLAIMABLE),
    GfpFlags::NOFS.union(GfpFlags::DMA32),
];

/// A block and the word that its owner wrote to it.
#[derive(Clone, Copy)]
struct Block {
    pfn: Pfn,
    order: Order,
    word: u64,
}

/// Runs the load of one CPU. All blocks are free again at the end.
pub(crate) fn run(memory: &Memory<'_, Host>, cpu: u16) {
    let mut in_use = [None; IN_USE];
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ u64::from(cpu) << 32);
    let (number, start) = (usize::from(cpu), interrupt::ticks(usize::from(cpu)));
    let (mut step, mut refreshed) = (0, start);
    while step < STEPS || interrupt::ticks(number) < start + TICKS {
        let slot = &mut in_use[random.below(IN_USE as u64) as usize];
        match slot.take() {
            Some(block) => free(memory, cpu, block),
            None => *slot = take(memory, cpu, &mut random),
        }
        if interrupt::ticks(number) >= refreshed + SECOND {
            refreshed = interrupt::ticks(number);
            memory.refresh(cpu);
            DONE[number].refreshes.fetch_add(1, Ordering::Relaxed);
        }
        step += 1;
    }
    in_use.into_iter().flatten().for_each(|block| free(memory, cpu, block));
}

fn take(memory: &Memory<'_, Host>, cpu: u16, random: &mut Random) -> Option<Block> {
    // Half of the requests are for order 0, a quarter for order 1, and so on. The rest are for random orders.
    let order = random.next().trailing_zeros();
    let order = if order > 5 { random.below(11) } else { u64::from(order) };
    let order = Order::of_linux(order as u8)?;
    let gfp = FLAGS[random.below(FLAGS.len() as u64) as usize];
    let pfn = memory.alloc(Request { cpu, node: 0, order, gfp }, NoReclaim).ok()?;
    DONE[usize::from(cpu)].requests[order.index()].fetch_add(1, Ordering::Relaxed);
    must(pfn.is_aligned(order), "a block is aligned");
    let word = random.next();
    page::stamp(pfn, order, word);
    Some(Block { pfn, order, word })
}

fn free(memory: &Memory<'_, Host>, cpu: u16, block: Block) {
    must(page::has_stamp(block.pfn, block.order, block.word), "a block has its owner's contents");
    must(memory.free(cpu, block.pfn, block.order) == Ok(()), "an owner frees what it took");
}

/// Marsaglia's xorshift.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}
