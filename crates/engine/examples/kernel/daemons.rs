//! The daemons: memory becomes short and fragmented, then kswapd, kcompactd and tidying are called.

use freehold::{Memory, NoReclaim, Order, Pfn};

use crate::cache::{Cache, movable};
use crate::lock::Host;
use crate::serial::line;
use crate::verdict::must;

/// The number of blocks that fill all mapped memory.
const BLOCKS: usize = 1 << 16;

/// The number of largest blocks that are split into pages. Every fourth page of them stays in use.
const BROKEN: usize = 16;

/// The most runs of kswapd.
const ROUNDS: usize = 16;

/// Blocks that keep memory short.
pub(crate) struct Ballast {
    blocks: [(Pfn, Order); BLOCKS],
    len: usize,
}

impl Ballast {
    #[expect(clippy::large_stack_arrays, reason = "it is called for a static")]
    pub(crate) const fn new() -> Self {
        Self { blocks: [(Pfn(0), Order::ZERO); BLOCKS], len: 0 }
    }

    /// Takes blocks of an order until none is left above the marks.
    fn fill(&mut self, memory: &Memory<'_, Host>, order: Order) {
        while self.len < BLOCKS
            && let Ok(pfn) = memory.alloc(movable(order), NoReclaim)
        {
            self.blocks[self.len] = (pfn, order);
            self.len += 1;
        }
        must(self.len < BLOCKS, "the ballast has room for every block");
    }

    fn release(&mut self, memory: &Memory<'_, Host>) {
        for (pfn, order) in &self.blocks[..self.len] {
            must(memory.free(0, *pfn, *order) == Ok(()), "ballast is freed");
        }
        self.len = 0;
    }
}

/// Fills memory, lets kswapd reclaim and kcompactd compact, and frees everything.
pub(crate) fn run(memory: &Memory<'_, Host>, cache: &mut Cache, ballast: &mut Ballast) {
    let (largest, huge) = (memory.zones()[0].max_order(), memory.zones()[0].pageblock_order());
    // Blocks that the load left on the CPUs' lists merge first. Unmerged, they would be more than the ballast can hold.
    memory.drain_all();
    Order::ZERO.up_to(largest).rev().for_each(|order| ballast.fill(memory, order));
    for block in ballast.blocks[..BROKEN].iter().copied() {
        must(block.1 == largest, "the first blocks of the ballast are the largest");
        cache.add_every(4, memory, block);
    }
    ballast.len -= BROKEN;
    ballast.blocks.copy_within(BROKEN..BROKEN + ballast.len, 0);
    // kswapd alone may free a whole pageblock. Then the next pageblock is requested.
    for _ in 0..ROUNDS {
        ballast.fill(memory, huge);
        must(memory.is_kswapd_wanted(0), "a request that fails wants kswapd");
        must(memory.kswapd(0, 0, cache), "kswapd reclaims until the node is balanced");
        if memory.is_kcompactd_wanted(0) {
            break;
        }
    }
    let reclaimed = memory.vm_events().pgsteal_kswapd;
    must(reclaimed > 0, "kswapd has reclaimed");
    line!("kswapd: {reclaimed} pages reclaimed");

    let moved = cache.moved;
    must(memory.is_kcompactd_wanted(0), "kswapd leaves the pieces to kcompactd");
    must(memory.kcompactd(0, 0, cache), "kcompactd makes a pageblock free");
    must(
        memory.alloc(movable(huge), NoReclaim).map(|pfn| memory.free(0, pfn, huge)) == Ok(Ok(())),
        "it can be had",
    );
    line!("kcompactd: {} pages moved", cache.moved - moved);

    let moved = cache.moved;
    memory.tidy_pageblocks(0, 0, 1024, cache);
    line!("tidy: {} pages moved", cache.moved - moved);
    cache.empty(memory);
    ballast.release(memory);
}
