//! Blocks on their way between a CPU's lists and the free lists.

use super::state::Zone;
use crate::percpu::{BATCH_SCALE_MAX, COSTLY_ORDER, LISTS, ListNumber, PerCpuList, PerCpuLists, Pressure};
use crate::table::sync::{Locks, Ordering};
use crate::table::{FrameIndex, FrameKind, FrameWord, Run};
use crate::types::{AllocFlags, Migratetype, Order, Switches, Want};

impl<L: Locks> Pressure for Zone<'_, L> {
    #[inline]
    fn switches(&self) -> &Switches {
        &self.switches
    }

    #[inline]
    fn is_below_high(&self) -> bool {
        self.shared.below_high.load(Ordering::Relaxed)
    }

    #[inline]
    fn is_reclaimed_from(&self) -> bool {
        self.shared.reclaim_active.load(Ordering::Relaxed)
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
            if self.switches.highatomic_first && want.flags.contains(AllocFlags::HIGHATOMIC) {
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
        frame.set_word(self.freed_word(frame.word(), order, block_type));
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
                && let Some(run) = lists.take_last(&self.frames, ListNumber(number), left)
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
            busy |= lists.decay_high(&self.switches);
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
