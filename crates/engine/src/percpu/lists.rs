//! One CPU's lists of free blocks, in front of a zone's free lists.

use crate::percpu::list::{PerCpuList, Run};
use crate::table::frame::{FrameIndex, FrameKind, FrameWord};
use crate::table::sync::Locks;
use crate::zone::refill::Want;
use crate::zone::state::Zone;
use crate::{Migratetype, Order, PCP_TYPES, PerCpuStats, Switches};

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
    pub(crate) fn new(settings: PerCpuSettings, switches: Switches, lists: [PerCpuList<'m>; LISTS]) -> Self {
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
    fn take_last(&mut self, zone: &Zone<'_, impl Locks>, from: ListNumber, pages: u32) -> Option<Run> {
        let list = &mut self.lists[from.0];
        let order = list.last_order(&zone.frames)?;
        let run = list.take_last(&zone.frames, pages.div_ceil(1 << order.get()))?;
        self.count -= run.pages();
        Some(run)
    }
}

impl<L: Locks> Zone<'_, L> {
    /// Whether blocks of this order have per-CPU lists: small ones and huge pages.
    ///
    /// Linux counterpart: `pcp_allowed_order`.
    pub(crate) fn has_percpu_list(&self, order: Order) -> bool {
        order.get() <= COSTLY_ORDER || (self.has_huge_lists && order == self.blocks.order())
    }

    /// Takes a block from a CPU's list, which is refilled first if it is empty.
    ///
    /// `None` also if somebody else holds the CPU's lists.
    /// Linux counterpart: `rmqueue_pcplist`.
    pub(crate) fn take_percpu(&self, cpu: u16, want: Want) -> Option<FrameIndex> {
        let mut lists = self.percpu[usize::from(cpu)].try_lock()?;
        lists.note_alloc();
        self.take_from_lists(&mut lists, want)
    }

    /// Takes a block from lists that the caller holds, refilled first if they have none.
    ///
    /// Linux counterpart: `__rmqueue_pcplist`.
    pub(crate) fn take_from_lists(&self, lists: &mut PerCpuLists<'_>, want: Want) -> Option<FrameIndex> {
        let number = PerCpuLists::number(want.migratetype, want.order);
        if lists.lists[number.0].is_empty() {
            let blocks = lists.refill_blocks(self, want.order);
            if self.switches.highatomic_first && want.flags.contains(crate::AllocFlags::HIGHATOMIC) {
                return None;
            }
            self.refill_percpu(lists, number, want, blocks);
        }
        let index = lists.lists[number.0].pop_first(&self.frames)?;
        lists.count -= 1 << want.order.get();
        Some(index)
    }

    /// Linux counterpart: `rmqueue_bulk`.
    fn refill_percpu(&self, lists: &mut PerCpuLists<'_>, number: ListNumber, want: Want, blocks: u32) {
        let mut guard = self.lock();
        let mut refill = guard.refill(want);
        let mut taken = 0;
        while taken < blocks
            && let Some(run) = refill.next_run(blocks - taken)
        {
            self.append_percpu(&mut lists.lists[number.0], run, self.frames.word(run.first).migratetype());
            taken += run.blocks;
        }
        guard.state.stats.refills += 1;
        guard.state.stats.refilled_blocks += u64::from(taken);
        drop(guard);
        lists.count += taken << want.order.get();
        lists.stats.refills += 1;
    }

    /// Puts blocks that were found under a type at the end of one of a CPU's lists.
    pub(crate) fn append_percpu(&self, list: &mut PerCpuList<'_>, run: Run, found_under: Migratetype) {
        let word = FrameWord::head(FrameKind::PerCpu, run.order, found_under);
        for index in run.iter() {
            self.frames.set_word(index, word);
        }
        list.append(&self.frames, run);
    }

    /// Puts a freed block on a CPU's list and gives back what exceeds `high`.
    ///
    /// Returns false, with nothing done, if somebody else holds the CPU's lists.
    /// Linux counterpart: `free_frozen_page_commit`.
    pub(crate) fn put_percpu(
        &self,
        cpu: u16,
        index: FrameIndex,
        order: Order,
        block_type: Migratetype,
    ) -> bool {
        let slot = &self.percpu[usize::from(cpu)];
        let Some(mut lists) = slot.try_lock() else { return false };
        let (number, surplus) = self.put_listed(&mut lists, index, order, block_type);
        let Some(mut surplus) = surplus else { return true };
        while surplus > 0 && lists.count > 0 {
            let now = if self.switches.batched_free { surplus.min(lists.settings.batch) } else { surplus };
            self.drain_percpu(&mut lists, now, number);
            surplus -= now;
            if surplus == 0 || lists.count == 0 {
                break;
            }
            // Let others have both locks in between.
            drop(lists);
            match slot.try_lock() {
                Some(again) => lists = again,
                None => break,
            }
        }
        if self.switches.below_high_mark {
            self.clear_below_high();
        }
        true
    }

    /// Puts a freed block on lists that the caller holds; returns which list it is on, and
    /// how many pages are too many now.
    pub(crate) fn put_listed(
        &self,
        lists: &mut PerCpuLists<'_>,
        index: FrameIndex,
        order: Order,
        block_type: Migratetype,
    ) -> (ListNumber, Option<u32>) {
        let list_type = if block_type.is_mergeable() { block_type } else { Migratetype::Movable };
        lists.freed_type = list_type;
        let number = PerCpuLists::number(list_type, order);
        let frame = self.frames.frame(index);
        let found_under = FrameWord::head(FrameKind::PerCpu, order, block_type);
        frame.set_word(if self.switches.hygiene { frame.word().given_back() } else { found_under });
        lists.lists[number.0].push_first(&self.frames, index);
        lists.count += 1 << order.get();
        (number, lists.surplus_after_free(self, order))
    }

    /// Gives `pages` of a CPU's lists back in one hold of the zone lock, round robin
    /// from list `from` on, the coldest first.
    ///
    /// Linux counterpart: `free_pcppages_bulk`.
    pub(crate) fn drain_percpu(&self, lists: &mut PerCpuLists<'_>, pages: u32, from: ListNumber) {
        let mut left = pages.min(lists.count);
        if left == 0 {
            return;
        }
        let mut guard = self.lock();
        let mut drained = 0;
        let mut number = from.0;
        while left > 0 {
            while left > 0
                && let Some(run) = lists.take_last(self, ListNumber(number), left)
            {
                left = left.saturating_sub(run.pages());
                drained += u64::from(run.pages());
                guard.free_drained(run);
            }
            number = (number + 1) % LISTS;
        }
        let stats = &mut guard.state.stats;
        stats.drains += 1;
        stats.drained_pages += drained;
        stats.largest_drain = stats.largest_drain.max(drained);
    }

    /// Gives back all of one CPU's lists; any CPU may ask for it.
    ///
    /// Linux counterpart: `drain_pages_zone`.
    pub fn drain_cpu(&self, cpu: u16) {
        let Some(slot) = self.percpu.get(usize::from(cpu)) else { return };
        loop {
            let mut lists = slot.lock();
            if lists.count == 0 {
                return;
            }
            let batch = lists.settings.batch;
            let step = if self.switches.batched_drain { batch } else { batch << BATCH_SCALE_MAX };
            self.drain_percpu(&mut lists, step, ListNumber::FIRST);
        }
    }

    /// What a CPU does about its lists once a second: lets `high` decay and gives the rest back.
    ///
    /// Returns whether there was, or will be, something to do.
    /// Linux counterpart: `decay_pcp_high`.
    pub fn refresh(&self, cpu: u16) -> bool {
        let Some(slot) = self.percpu.get(usize::from(cpu)) else { return false };
        if !self.switches.auto_tuned_high {
            return false;
        }
        let mut busy = false;
        let (mut surplus, batch) = {
            let mut lists = slot.lock();
            busy |= lists.decay_high(self.switches);
            (lists.count.saturating_sub(lists.high), lists.settings.batch)
        };
        while surplus > 0 {
            let now = if self.switches.batched_decay { surplus.min(batch) } else { surplus };
            self.drain_percpu(&mut slot.lock(), now, ListNumber::FIRST);
            surplus -= now;
            busy = true;
        }
        busy
    }
}
