//! One CPU's lists of free blocks, in front of a zone's free lists.

use super::list::PerCpuList;
use crate::table::{FrameIndex, FrameTable, Run};
use crate::types::{Migratetype, Order, PCP_TYPES, PerCpuStats, Switches};

/// Settings of the per-CPU lists of one zone. All in pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PerCpuSettings {
    /// Pages moved at a time. Linux counterpart: `pcp->batch`.
    pub batch: u32,
    /// Lower bound of `high`; with [`crate::Switches::auto_tuned_high`] off, `high` itself.
    pub high_min: u32,
    /// Upper bound of `high`.
    pub high_max: u32,
    /// Whether consecutive high-order frees flush a list only once it holds a batch.
    /// Linux counterpart: `PCPF_FREE_HIGH_BATCH`, set where the CPU's cache slice is large.
    pub flush_needs_batch: bool,
}

pub(crate) const COSTLY_ORDER: u8 = Order::COSTLY.get();

/// A batch grows at most by this power of two. Linux counterpart: `CONFIG_PCP_BATCH_SCALE_MAX`.
pub(crate) const BATCH_SCALE_MAX: u32 = 5;

const SMALL_LISTS: usize = PCP_TYPES * (COSTLY_ORDER as usize + 1);
pub(crate) const LISTS: usize = SMALL_LISTS + 2;

/// Places of a stack of blocks, single pages left out.
const SMALL_STACK: usize = 64;

/// Places of a stack of single pages at most. Pages that come back in no order are linked one
/// by one below the stack, so it holds what a batch of requests may take and give back.
const LARGE_STACK: usize = 2048;

/// Pages of a zone for one place of a stack of single pages.
const PAGES_A_PLACE: u64 = 256;

/// The places of each list's stack in a zone of so many pages.
pub(crate) fn stack_places(spanned: u64) -> impl Iterator<Item = usize> {
    let large = usize::try_from(spanned / PAGES_A_PLACE).unwrap_or(LARGE_STACK);
    let large = large.clamp(SMALL_STACK, LARGE_STACK);
    (0..LISTS).map(move |number| if number < PCP_TYPES { large } else { SMALL_STACK })
}

/// One CPU's lists of one zone. Linux counterpart: `struct per_cpu_pages`.
///
/// What every request reads or writes comes first, so that it shares a cache line with the lock.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct PerCpuLists<'m> {
    /// Pages on the lists.
    pub(crate) count: u32,
    /// Pages freed in a row, halved by each allocation.
    pub(crate) free_count: u32,
    /// A single page freed below this number of pages changes nothing but counters; see
    /// [`PerCpuLists::note_calm`].
    pub(crate) calm_below: u32,
    /// The next refill is the batch times two to this power.
    pub(crate) alloc_factor: u32,
    pub(crate) settings: PerCpuSettings,
    /// Pages above which some are given back.
    pub(crate) high: u32,
    /// Without automatic tuning: the next drain is the batch times two to this power.
    pub(crate) free_factor: u32,
    pub(crate) last_free_was_high_order: bool,
    /// The type of the list that a block was freed to last. Which list a page goes to is
    /// compared with it, not read from its pageblock: a processor goes on where it guessed a
    /// comparison right, and would wait for the address of the list.
    pub(crate) freed_type: Migratetype,
    pub(crate) stats: PerCpuStats,
    pub(crate) lists: [PerCpuList<'m>; LISTS],
}

/// Which of the lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ListNumber(pub(crate) usize);

impl ListNumber {
    /// The first list, from which whole drains start.
    pub(crate) const FIRST: Self = Self(0);
}

impl<'m> PerCpuLists<'m> {
    pub(crate) fn new(settings: PerCpuSettings, switches: &Switches, lists: [PerCpuList<'m>; LISTS]) -> Self {
        let mut lists = Self {
            lists,
            count: 0,
            settings,
            high: settings.high_min,
            calm_below: 0,
            alloc_factor: 0,
            free_count: 0,
            free_factor: 0,
            last_free_was_high_order: false,
            freed_type: Migratetype::Movable,
            stats: PerCpuStats { highest_high: settings.high_min, ..PerCpuStats::default() },
        };
        lists.note_calm(switches);
        lists
    }

    /// The list of a type and order. Linux counterpart: `order_to_pindex`.
    pub(crate) fn number(migratetype: Migratetype, order: Order) -> ListNumber {
        ListNumber(if order.get() > COSTLY_ORDER {
            SMALL_LISTS + usize::from(migratetype == Migratetype::Movable)
        } else {
            PCP_TYPES * order.index() + migratetype.index()
        })
    }

    /// Takes a block of an order that has lists, if it lies at hand.
    ///
    /// `None` also if a list has only blocks that are not at hand.
    #[inline]
    pub(crate) fn take_at_hand(&mut self, migratetype: Migratetype, order: Order) -> Option<FrameIndex> {
        let index = self.pop_at_hand(migratetype, order)?;
        self.note_alloc();
        Some(index)
    }

    /// The same as one of many that count as one allocation.
    #[inline]
    pub(crate) fn pop_at_hand(&mut self, migratetype: Migratetype, order: Order) -> Option<FrameIndex> {
        let number = PerCpuLists::number(migratetype, order);
        let index = self.lists.get_mut(number.0)?.pop_stacked()?;
        self.count -= 1 << order.get();
        Some(index)
    }

    /// Whether a freed single page can be put at hand without a further look, if its
    /// pageblock's type is [`Self::freed_type`].
    #[inline]
    pub(crate) fn has_room_for_page(&self) -> bool {
        self.count + 1 < self.calm_below && self.lists[self.freed_type.index()].has_room()
    }

    /// Puts a freed single page of the type at hand, where there is room.
    #[inline]
    pub(crate) fn put_page_at_hand(&mut self, index: FrameIndex) {
        self.lists[self.freed_type.index()].push_stacked(index);
        self.count += 1;
        self.note_calm_free();
    }

    /// Takes blocks from the end of a list: side by side, and no more than it takes to have `pages`.
    #[inline]
    pub(crate) fn take_last(&mut self, frames: &FrameTable<'_>, from: ListNumber, pages: u32) -> Option<Run> {
        let list = &mut self.lists[from.0];
        let order = list.last_order(frames)?;
        let run = list.take_last(frames, pages.div_ceil(1 << order.get()))?;
        self.count -= run.pages();
        Some(run)
    }
}
