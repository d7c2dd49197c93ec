//! One CPU's lists of free blocks, in front of a zone's free lists.

use super::list::PerCpuList;
use crate::table::{FrameIndex, FrameTable, Run};
use crate::types::{Migratetype, Order, PCP_TYPES, PerCpuStats, Switches};

/// Settings of the per-CPU lists of one zone.
///
/// Units: pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PerCpuSettings {
    /// Pages moved at a time. Linux counterpart: `pcp->batch`.
    pub batch: u32,
    /// Lower bound of `high`; with [`crate::Switches::auto_tuned_high`] off, `high` itself.
    pub high_min: u32,
    /// Upper bound of `high`.
    pub high_max: u32,
    /// True if consecutive high-order frees flush the lists only once they have a batch of pages.
    /// Linux counterpart: `PCPF_FREE_HIGH_BATCH`, set where the CPU's cache slice is large.
    pub flush_needs_batch: bool,
}

/// The base-2 logarithm of the largest factor by which a batch grows. Linux counterpart: `CONFIG_PCP_BATCH_SCALE_MAX`.
pub(crate) const BATCH_SCALE_MAX: u32 = 5;

/// The largest order that may have lists for every type, with [`Switches::percpu_large_orders`].
const LARGEST: Order = match Order::new(8) {
    Some(order) => order,
    None => Order::COSTLY,
};

const HUGE_LISTS: usize = PCP_TYPES * (LARGEST.index() + 1);

/// The most lists of a CPU and zone: one for each type and order up to 8, and two for huge pages.
pub(crate) const LISTS: usize = HUGE_LISTS + 2;

/// Returns the order up to which every order has lists for every type. `block_order` is the order of a pageblock.
pub(crate) fn listed_up_to(switches: &Switches, block_order: Order) -> Order {
    match block_order.down() {
        Some(below) if switches.percpu_large_orders => below.min(LARGEST).max(Order::COSTLY),
        _ => Order::COSTLY,
    }
}

/// The places of a stack for blocks of orders 1 to 3, and for huge pages.
const SMALL_STACK: usize = 48;

/// The places of a stack for blocks of orders 4 to 8.
const LARGE_BLOCKS_STACK: usize = 16;

/// The most places of a stack for single pages. Pages that are freed in no address order are linked one by one below
/// the stack. Therefore the stack is large enough for a batch of requests and frees.
const LARGE_STACK: usize = 2048;

/// The pages of a zone for each place of a stack for single pages.
const PAGES_PER_SLOT: u64 = 256;

/// Returns the number of places of each list's stack in a zone that spans `spanned` pages. All orders up to `listed`
/// have lists for every type.
pub(crate) fn stack_places(spanned: u64, listed: Order) -> impl Iterator<Item = usize> {
    let single = usize::try_from(spanned / PAGES_PER_SLOT).unwrap_or(LARGE_STACK);
    let single = single.clamp(SMALL_STACK, LARGE_STACK);
    (0..LISTS).map(move |number| match number / PCP_TYPES {
        0 => single,
        _ if number >= HUGE_LISTS => SMALL_STACK,
        order if order <= Order::COSTLY.index() => SMALL_STACK,
        order if order <= listed.index() => LARGE_BLOCKS_STACK,
        _ => 0,
    })
}

/// One CPU's lists of one zone. Linux counterpart: `struct per_cpu_pages`.
///
/// Fields that every request reads or writes come first, so that they share a cache line with the lock.
/// Functions that tune the lists are in `tuning.rs`.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct PerCpuLists<'m> {
    /// Pages on the lists.
    pub(super) count: u32,
    /// The number of pages freed since the last allocation, which halves it.
    pub(super) free_count: u32,
    /// While the lists have fewer pages than this, the free of a single page changes only counters; see
    /// [`PerCpuLists::update_fast_below`].
    pub(super) fast_below: u32,
    /// The next refill is the batch times two to this power.
    pub(super) alloc_factor: u32,
    pub(super) settings: PerCpuSettings,
    /// The number of pages above which the lists are drained.
    pub(super) high: u32,
    /// Without automatic tuning: the next drain is the batch times two to this power.
    pub(super) free_factor: u32,
    pub(super) last_free_was_high_order: bool,
    /// The type of the list to which a block was freed last. A free compares the pageblock's type with this one. The
    /// processor can predict a comparison, but would have to wait for a list address that it reads from memory.
    freed_type: Migratetype,
    /// All orders up to this one have lists for every type.
    listed: Order,
    pub(super) stats: PerCpuStats,
    lists: [PerCpuList<'m>; LISTS],
}

/// The number of one of a CPU's lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ListNumber(usize);

impl ListNumber {
    /// The first list, where a drain of all lists starts.
    pub(crate) const FIRST: Self = Self(0);

    /// Returns the number of the list of a type and an order. The order must be at most [`PerCpuLists::listed`].
    #[inline]
    fn of_listed(migratetype: Migratetype, order: Order) -> Self {
        Self(PCP_TYPES * order.index() + migratetype.index())
    }
}

impl<'m> PerCpuLists<'m> {
    /// Returns empty lists.
    pub(crate) fn new(
        settings: PerCpuSettings,
        switches: &Switches,
        listed: Order,
        lists: [PerCpuList<'m>; LISTS],
    ) -> Self {
        let settings = settings.limited();
        let mut lists = Self {
            lists,
            count: 0,
            settings,
            high: settings.high_min,
            fast_below: 0,
            alloc_factor: 0,
            free_count: 0,
            free_factor: 0,
            last_free_was_high_order: false,
            freed_type: Migratetype::Movable,
            listed,
            stats: PerCpuStats { highest_high: settings.high_min, ..PerCpuStats::default() },
        };
        lists.update_fast_below(switches);
        lists
    }

    /// Returns the number of pages on all lists.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Returns the number of pages moved at a time.
    pub(crate) fn batch(&self) -> u32 {
        self.settings.batch
    }

    /// Returns the statistics of the lists.
    pub(crate) fn stats(&self) -> PerCpuStats {
        self.stats
    }

    /// Returns the number of the list of a type and an order. The order must have lists.
    ///
    /// Linux counterpart: `order_to_pindex`.
    #[inline]
    pub(crate) fn number(&self, migratetype: Migratetype, order: Order) -> ListNumber {
        if order <= self.listed {
            ListNumber::of_listed(migratetype, order)
        } else {
            ListNumber(HUGE_LISTS + usize::from(migratetype == Migratetype::Movable))
        }
    }

    /// Returns the number of the next list that may have blocks. After the last list comes the first.
    pub(crate) fn next(&self, number: ListNumber) -> ListNumber {
        let end_of_listed = PCP_TYPES * (self.listed.index() + 1);
        ListNumber(match number.0 + 1 {
            LISTS => 0,
            next if next == end_of_listed => HUGE_LISTS,
            next => next,
        })
    }

    /// Returns one of the lists.
    pub(crate) fn list(&self, number: ListNumber) -> &PerCpuList<'m> {
        &self.lists[number.0]
    }

    /// Returns all lists.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &PerCpuList<'m>> {
        self.lists.iter()
    }
}

/// The fast paths, which touch only the stacks.
impl PerCpuLists<'_> {
    /// Takes a block from its stack. The order must be at most [`PerCpuLists::listed`]. Returns `None` if the stack is
    /// empty, even if the list has blocks below the stack.
    #[inline]
    pub(crate) fn take_fast(&mut self, migratetype: Migratetype, order: Order) -> Option<FrameIndex> {
        let list = self.lists.get_mut(ListNumber::of_listed(migratetype, order).0)?;
        let index = list.pop_stacked()?;
        self.count -= 1 << order.get();
        self.note_allocs(1);
        Some(index)
    }

    /// Takes a block for each of `places` from one stack until the stack is empty. Returns the number of blocks taken.
    /// The caller must note the allocations.
    #[inline]
    pub(crate) fn take_each_fast<P>(
        &mut self,
        migratetype: Migratetype,
        order: Order,
        places: impl Iterator<Item = P>,
        mut give: impl FnMut(P, FrameIndex),
    ) -> u32 {
        let number = self.number(migratetype, order);
        let list = &mut self.lists[number.0];
        let mut taken = 0;
        for place in places {
            let Some(index) = list.pop_stacked() else { break };
            give(place, index);
            taken += 1;
        }
        self.count -= taken << order.get();
        taken
    }

    /// Returns the type of the list to which a block was freed last.
    #[inline]
    pub(crate) fn freed_type(&self) -> Migratetype {
        self.freed_type
    }

    /// Returns true if a freed single page can be put on its stack without further checks. The type of its pageblock
    /// must be [`Self::freed_type`].
    #[inline]
    pub(crate) fn has_room_for_page(&self) -> bool {
        self.count + 1 < self.fast_below && self.lists[self.freed_type.index()].has_room()
    }

    /// Puts a freed single page of type [`Self::freed_type`] on its stack, which must have room.
    #[inline]
    pub(crate) fn put_page_fast(&mut self, index: FrameIndex) {
        self.lists[self.freed_type.index()].push_stacked(index);
        self.count += 1;
        self.note_fast_frees(1);
    }

    /// Returns true if a freed block above order 0 can be put on its list without further checks. The order must be at
    /// most [`PerCpuLists::listed`].
    #[inline]
    pub(crate) fn has_room_for_block(&self, order: Order) -> bool {
        self.count + (1 << order.get()) < self.fast_below && !self.may_flush(order)
    }

    /// Puts a freed block on its list after [`Self::has_room_for_block`] returned true. The zone must have plenty of
    /// single pages.
    #[inline]
    pub(crate) fn put_block_fast(
        &mut self,
        frames: &FrameTable<'_>,
        index: FrameIndex,
        order: Order,
        list_type: Migratetype,
    ) {
        if let Some(list) = self.lists.get_mut(ListNumber::of_listed(list_type, order).0) {
            list.push_first(frames, index);
        }
        self.freed_type = list_type;
        self.count += 1 << order.get();
        self.note_fast_block(order);
    }

    /// Puts freed single pages of type [`Self::freed_type`] on their stack while it has room. Returns the number of
    /// pages put.
    #[inline]
    pub(crate) fn put_pages_fast(&mut self, mut pages: impl Iterator<Item = FrameIndex>) -> u32 {
        let mut put = 0;
        while self.has_room_for_page()
            && let Some(index) = pages.next()
        {
            self.lists[self.freed_type.index()].push_stacked(index);
            self.count += 1;
            put += 1;
        }
        self.note_fast_frees(put);
        put
    }
}

/// The whole lists.
impl PerCpuLists<'_> {
    /// Returns true if a list has no block.
    pub(crate) fn is_list_empty(&self, number: ListNumber) -> bool {
        self.list(number).is_empty()
    }

    /// Takes the first block from a list of blocks of `order`.
    #[inline]
    pub(crate) fn take_first(
        &mut self,
        frames: &FrameTable<'_>,
        number: ListNumber,
        order: Order,
    ) -> Option<FrameIndex> {
        let index = self.lists[number.0].pop_first(frames)?;
        self.count -= 1 << order.get();
        Some(index)
    }

    /// Takes adjacent blocks from the end of a list: at most the number that makes up `pages` pages.
    #[inline]
    pub(crate) fn take_last(
        &mut self,
        frames: &FrameTable<'_>,
        number: ListNumber,
        pages: u32,
    ) -> Option<Run> {
        let list = &mut self.lists[number.0];
        let order = list.last_order(frames)?;
        let run = list.take_last(frames, pages.div_ceil(1 << order.get()))?;
        self.count -= run.pages();
        Some(run)
    }

    /// Puts a freed block at the head of its list. The caller has marked the block's word as on a per-CPU list.
    #[inline]
    pub(crate) fn put_first(
        &mut self,
        frames: &FrameTable<'_>,
        index: FrameIndex,
        order: Order,
        list_type: Migratetype,
    ) -> ListNumber {
        self.freed_type = list_type;
        let number = self.number(list_type, order);
        self.lists[number.0].push_first(frames, index);
        self.count += 1 << order.get();
        number
    }

    /// Puts blocks at the tail of a list. The caller has marked their words as on a per-CPU list.
    pub(crate) fn append(&mut self, frames: &FrameTable<'_>, number: ListNumber, run: Run) {
        self.lists[number.0].append(frames, run);
        self.count += run.pages();
    }
}
