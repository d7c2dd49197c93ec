//! The texts about a step, with Linux's names of functions.

use freehold::{ExtFrag, Migratetype, Order, Switches};

/// A block before or after a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Block {
    pub(super) start: u64,
    pub(super) order: Order,
    pub(super) migratetype: Migratetype,
}

impl Block {
    pub(super) fn contains(&self, pfn: u64) -> bool {
        (self.start..self.start + self.order.pages()).contains(&pfn)
    }
}

/// Returns true if a line describes a fallback.
pub(super) fn is_of_fallback(line: &str) -> bool {
    ["fallback", "claim", "steal"].iter().any(|word| line.starts_with(word))
}

fn pages(order: Order) -> String {
    match order.pages() {
        1 => "1 page".to_owned(),
        pages => format!("{pages} pages"),
    }
}

/// Describes a successful request.
pub(super) fn allocated(wanted: Migratetype, order: Order, pfn: u64) -> String {
    format!("alloc_pages: {}, {}, at pfn {pfn:#x}", pages(order), wanted.name())
}

/// Describes a failed request.
pub(super) fn refused(wanted: Migratetype, order: Order) -> String {
    format!(
        "page allocation failure: order:{}, {}: no free block is large enough",
        order.get(),
        wanted.name()
    )
}

/// Describes several successful requests.
pub(super) fn answered_many(wanted: Migratetype, order: Order, times: u32) -> String {
    format!("alloc_pages: {times} × {}, {}", pages(order), wanted.name())
}

/// Describes a drain of CPUs' lists.
pub(super) fn drained(blocks: usize) -> String {
    format!("drain_all_pages: {blocks} blocks leave CPUs' lists for the free lists, where they can merge")
}

/// Describes a request that got its page from a CPU's list.
pub(super) fn from_list() -> String {
    "rmqueue_pcplist: the CPU's list had one, without the zone lock".to_owned()
}

/// Describes a free block of exactly the requested size.
pub(super) fn exact(order: Order) -> String {
    format!("__rmqueue_smallest: the free list of order {} had a block of exactly this size", order.get())
}

/// Describes the split of a larger free block for a request.
pub(super) fn split(from: Block, order: Order) -> String {
    let last = from.order.get() - 1;
    let halves = if last == order.get() {
        format!("order {last}")
    } else {
        format!("orders {last} to {}", order.get())
    };
    format!(
        "split: expand() cuts the free block of order {} at pfn {:#x}; the halves of {halves} go back to the free lists",
        from.order.get(),
        from.start
    )
}

/// Describes a fallback.
pub(super) fn fallback(found: ExtFrag, switches: Switches, pageblock: Order) -> Vec<String> {
    let (wanted, other) = (found.alloc_migratetype.name(), found.fallback_migratetype.name());
    let order = found.fallback_order.get();
    let (claims, steals) = if switches.hygiene {
        ("__rmqueue_claim", "__rmqueue_steal")
    } else {
        ("steal_suitable_fallback", "steal_suitable_fallback")
    };
    let fallback = format!(
        "fallback (mm_page_alloc_extfrag): no {wanted} block is large enough; {other} has a free block of order {order}"
    );
    let outcome = if found.change_ownership {
        let claimed = match found.fallback_order.get().saturating_sub(pageblock.get()) {
            0 => "the whole pageblock becomes".to_owned(),
            more => format!("the {} pageblocks of the block become", 1_u32 << more),
        };
        format!("claim ({claims}): {claimed} {wanted}")
    } else {
        format!("steal ({steals}): only this block is taken; the pageblock stays {other}, and is mixed now")
    };
    vec![fallback, outcome]
}

/// Describes a free. `free` is the free block that contains the freed block afterwards; `None` if a CPU's list has it.
pub(super) fn freed(pfn: u64, order: Order, free: Option<Block>) -> Vec<String> {
    let freed = format!("__free_pages: {} at pfn {pfn:#x}", pages(order));
    let after = match free {
        None => "free_frozen_page_commit: the page stays on the CPU's list and does not merge".to_owned(),
        Some(free) if free.order == order => format!(
            "__free_one_page: its buddy is not free, so it stays of order {}, on the list of {}",
            order.get(),
            free.migratetype.name()
        ),
        Some(free) => format!(
            "merge: __free_one_page joins it with its buddies {} into a block of order {} at pfn {:#x}, on the list of {}",
            times(free.order.get() - order.get()),
            free.order.get(),
            free.start,
            free.migratetype.name()
        ),
    };
    vec![freed, after]
}

fn times(times: u8) -> String {
    if times == 1 { "once".to_owned() } else { format!("{times} times") }
}
