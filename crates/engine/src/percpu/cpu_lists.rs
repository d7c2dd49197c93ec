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
    /// True if consecutive high-order frees flush a list only once it holds a batch.
    /// Linux counterpart: `PCPF_FREE_HIGH_BATCH`, set where the CPU's cache slice is large.
    pub flush_needs_batch: bool,
}

/// What one CPU's lists remember besides their blocks.
///
/// Linux counterpart: the fields of `struct per_cpu_pages`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PerCpuState {
    /// Pages above which some are given back. Linux counterpart: `high`.
    pub high: u32,
    /// The next refill is the batch times two to this power. Linux counterpart: `alloc_factor`.
    pub alloc_factor: u32,
    /// Pages freed in a row, halved by each allocation. Linux counterpart: `free_count`.
    pub free_count: u32,
    /// Before 6.7: the next drain is the batch times two to this power. Linux counterpart: `free_factor`.
    pub free_factor: u32,
    /// Linux counterpart: `PCPF_PREV_FREE_HIGH_ORDER`.
    pub last_free_was_high_order: bool,
}

/// A batch grows at most by this power of two. Linux counterpart: `CONFIG_PCP_BATCH_SCALE_MAX`.
pub(crate) const BATCH_SCALE_MAX: u32 = 5;

/// The largest order that may have lists for every type: with [`Switches::percpu_large_orders`].
const LARGEST: Order = match Order::new(8) {
    Some(order) => order,
    None => Order::COSTLY,
};

const HUGE_LISTS: usize = PCP_TYPES * (LARGEST.index() + 1);

/// The most lists of a CPU and zone: one for each order up to 8 and type, and two of huge pages.
pub(crate) const LISTS: usize = HUGE_LISTS + 2;

/// Returns the order up to which every order has lists for every type; a pageblock's order is `block_order`.
pub(crate) fn listed_up_to(switches: &Switches, block_order: Order) -> Order {
    match block_order.down() {
        Some(below) if switches.percpu_large_orders => below.min(LARGEST).max(Order::COSTLY),
        _ => Order::COSTLY,
    }
}

/// Places of a stack of blocks of orders 1 to 3, and of huge pages.
const SMALL_STACK: usize = 48;

/// Places of a stack of blocks of orders 4 to 8.
const LARGE_BLOCKS_STACK: usize = 16;

/// The most places of a stack of single pages. Pages that come back in no order are linked one by one
/// below the stack, so the stack holds as many as a batch of requests may take and give back.
const LARGE_STACK: usize = 2048;

/// Pages of a zone for each place of a stack of single pages.
const PAGES_A_PLACE: u64 = 256;

/// Returns the number of places of each list's stack in a zone that spans so many pages. All orders up to
/// `listed` have lists for every type.
pub(crate) fn stack_places(spanned: u64, listed: Order) -> impl Iterator<Item = usize> {
    let single = usize::try_from(spanned / PAGES_A_PLACE).unwrap_or(LARGE_STACK);
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
/// What every request reads or writes comes first, so that it shares a cache line with the lock.
/// Fields that only the tuning changes are in `tuning.rs`.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct PerCpuLists<'m> {
    /// Pages on the lists.
    pub(super) count: u32,
    /// Pages freed in a row, halved by each allocation.
    pub(super) free_count: u32,
    /// While the lists have fewer pages, a single page that is freed changes only counters; see
    /// [`PerCpuLists::update_fast_below`].
    pub(super) fast_below: u32,
    /// The next refill is the batch times two to this power.
    pub(super) alloc_factor: u32,
    pub(super) settings: PerCpuSettings,
    /// Pages above which some are given back.
    pub(super) high: u32,
    /// Without automatic tuning: the next drain is the batch times two to this power.
    pub(super) free_factor: u32,
    pub(super) last_free_was_high_order: bool,
    /// The type of the list that a block was freed to last. The list of a freed page is found by comparing
    /// its pageblock's type with this one: a processor goes on where it guessed a comparison right, and
    /// would wait for an address that it has to read.
    freed_type: Migratetype,
    /// All orders up to this have lists for every type.
    listed: Order,
    pub(super) stats: PerCpuStats,
    lists: [PerCpuList<'m>; LISTS],
}

/// The number of one of a CPU's lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ListNumber(usize);

impl ListNumber {
    /// The first list, from which whole drains start.
    pub(crate) const FIRST: Self = Self(0);

    /// Returns the number of the list of a type and an order up to which all have lists.
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

    /// Returns what happened on the lists so far.
    pub(crate) fn stats(&self) -> PerCpuStats {
        self.stats
    }

    /// Returns the number of the list of a type and of an order that has lists.
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

    /// Returns the number of the next list that may have blocks; after the last, the first.
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

/// The fast paths, which touch stacks alone.
impl PerCpuLists<'_> {
    /// Takes a block of an order up to which all have lists off its stack. Returns `None` if the stack is empty,
    /// even if the list has blocks below it.
    #[inline]
    pub(crate) fn take_fast(&mut self, migratetype: Migratetype, order: Order) -> Option<FrameIndex> {
        let list = self.lists.get_mut(ListNumber::of_listed(migratetype, order).0)?;
        let index = list.pop_stacked()?;
        self.count -= 1 << order.get();
        self.note_allocs(1);
        Some(index)
    }

    /// Takes a block for each of `places` off one stack until the stack is empty, and returns how
    /// many. The caller notes the allocations.
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

    /// Returns the type of the list that a block was freed to last.
    #[inline]
    pub(crate) fn freed_type(&self) -> Migratetype {
        self.freed_type
    }

    /// Returns true if a freed single page can be put on its stack without a decision, provided that
    /// its pageblock's type is [`Self::freed_type`].
    #[inline]
    pub(crate) fn has_room_for_page(&self) -> bool {
        self.count + 1 < self.fast_below && self.lists[self.freed_type.index()].has_room()
    }

    /// Puts a freed single page of that type on its stack, which has room.
    #[inline]
    pub(crate) fn put_page_fast(&mut self, index: FrameIndex) {
        self.lists[self.freed_type.index()].push_stacked(index);
        self.count += 1;
        self.note_fast_frees(1);
    }

    /// Returns true if a freed block above order 0, of an order up to which all have lists, can be put on its
    /// list without a decision.
    #[inline]
    pub(crate) fn has_room_for_block(&self, order: Order) -> bool {
        self.count + (1 << order.get()) < self.fast_below && !self.may_flush(order)
    }

    /// Puts such a block on its list. The zone has plenty of single pages.
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

    /// Puts freed single pages of that type on its stack while it has room, and returns how many.
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

    /// Takes the first block of `order` off its list.
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

    /// Takes blocks that lie side by side off the end of a list: at most as many as it takes to have
    /// `pages`.
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

    /// Puts a freed block at the head of its list. The block's word says that it is on a per-CPU list.
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

    /// Puts blocks at the tail of a list. Their words say that they are on a per-CPU list.
    pub(crate) fn append(&mut self, frames: &FrameTable<'_>, number: ListNumber, run: Run) {
        self.lists[number.0].append(frames, run);
        self.count += run.pages();
    }
}
