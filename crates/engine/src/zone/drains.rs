//! Drains: moves blocks from a CPU's lists to the free lists.

use core::ops::DerefMut;

use super::guard::ZoneGuard;
use super::percpu::LockedLists;
use super::state::Zone;
use crate::percpu::{BATCH_SCALE_MAX, ListNumber, PerCpuLists};
use crate::table::{FrameIndex, Run};
use crate::types::{Order, Platform};

impl<'m, P: Platform> Zone<'m, P> {
    /// Drains `surplus` pages, or all pages if there are fewer. Starts at list `from`, and drains at most `step` pages
    /// in one hold of the zone lock. `again` is called between two holds, and may release and retake the lists' lock.
    pub(super) fn drain_surplus<G: DerefMut<Target = PerCpuLists<'m>>>(
        &self,
        mut lists: G,
        from: ListNumber,
        mut surplus: u32,
        step: u32,
        mut again: impl FnMut(G) -> Option<G>,
    ) {
        while surplus > 0 && lists.count() > 0 {
            let now = surplus.min(step);
            self.drain_lists(&mut lists, now, from);
            surplus -= now;
            if surplus == 0 || lists.count() == 0 {
                return;
            }
            match again(lists) {
                Some(locked) => lists = locked,
                None => return,
            }
        }
    }

    /// Drains `pages` pages of a CPU's lists in one hold of the zone lock: round robin from list `from` on, from the
    /// tail of each list.
    ///
    /// Linux counterpart: `free_pcppages_bulk`.
    fn drain_lists(&self, lists: &mut PerCpuLists<'m>, pages: u32, from: ListNumber) {
        let mut left = pages.min(lists.count());
        let mut guard = self.lock();
        let mut drained = 0;
        let mut number = from;
        let mut was_empty = false;
        while left > 0 {
            while left > 0
                && let Some(run) = self.take_last(lists, number, left)
            {
                left = left.saturating_sub(run.pages());
                drained += u64::from(run.pages());
                was_empty = false;
                if P::DETECTS_RACING_FREES || run.iter().all(|index| self.is_listed(index, run.order)) {
                    guard.free_drained(run);
                } else {
                    self.free_what_is_drained(&mut guard, lists, run);
                }
            }
            number = lists.next(number);
            if !P::DETECTS_RACING_FREES && number == from && core::mem::replace(&mut was_empty, true) {
                // No list has a block although the count says so.
                lists.recount(&self.frames);
                break;
            }
        }
        let stats = &mut guard.state.stats;
        stats.drains += 1;
        stats.drained_pages += drained;
        stats.largest_drain = stats.largest_drain.max(drained);
    }

    #[inline]
    fn take_last(&self, lists: &mut PerCpuLists<'m>, number: ListNumber, pages: u32) -> Option<Run> {
        if P::DETECTS_RACING_FREES {
            lists.take_last::<false>(&self.frames, number, pages)
        } else {
            lists.take_last::<true>(&self.frames, number, pages)
        }
    }

    /// Returns true if a block of `order` that was taken from a CPU's list is free. It is, unless another caller has freed it as
    /// well, against the embedder's promise, and its other place on a list was used before.
    #[inline]
    pub(crate) fn is_listed(&self, index: FrameIndex, order: Order) -> bool {
        P::DETECTS_RACING_FREES || self.frames.word(index).is_listed_of(order)
    }

    /// Frees the blocks of a run that nobody else has freed, and counts the lists again.
    #[cold]
    fn free_what_is_drained(&self, guard: &mut ZoneGuard<'_, 'm, P>, lists: &mut PerCpuLists<'m>, run: Run) {
        for index in run.iter() {
            if self.is_listed(index, run.order) {
                guard.free_drained(Run::single(index, run.order));
            }
        }
        lists.recount(&self.frames);
    }

    /// Drains all blocks of one CPU's lists. Any CPU may call it. Waits until the CPU's [`crate::Exclusive`] is paused
    /// or dropped.
    ///
    /// Linux counterpart: `drain_pages_zone`.
    pub fn drain_cpu(&self, cpu: u16) {
        let Some(lists) = self.lock_lists(cpu) else { return };
        self.drain_locked(lists, &|| self.lock_lists(cpu));
    }

    /// Drains all blocks of one CPU's lists that the caller has locked. Releases the lock between two batches, and then
    /// locks the lists again with `relock`. Ends if that returns `None`.
    pub(crate) fn drain_locked<'z>(
        &'z self,
        lists: LockedLists<'z, 'm, P>,
        relock: &dyn Fn() -> Option<LockedLists<'z, 'm, P>>,
    ) {
        let batch = lists.batch();
        let step = if self.switches.batched_drain { batch } else { batch << BATCH_SCALE_MAX };
        self.drain_surplus(lists, ListNumber::FIRST, u32::MAX, step, |lists| {
            drop(lists);
            relock()
        });
    }

    /// Drains all blocks of the lists of every CPU. Waits until every [`crate::Exclusive`] is paused or dropped.
    ///
    /// Linux counterpart: `drain_all_pages` for one zone.
    pub fn drain_all(&self) {
        (0..self.percpu.len()).for_each(|cpu| self.drain_cpu(cpu as u16));
    }

    /// Lowers `high` of a CPU's lists, and drains the pages above it. A CPU of Linux does so once a second. Returns
    /// true if there was work, or a later call will have work.
    ///
    /// Linux counterpart: `decay_pcp_high`.
    pub fn refresh(&self, cpu: u16) -> bool {
        if !self.switches.auto_tuned_high {
            return false;
        }
        let Some(mut lists) = self.lock_lists(cpu) else { return false };
        let goes_on = lists.decay_high(&self.switches);
        let surplus = lists.above_high();
        let step = if self.switches.batched_decay { lists.batch() } else { surplus };
        self.drain_surplus(lists, ListNumber::FIRST, surplus, step, |lists| {
            drop(lists);
            self.lock_lists(cpu)
        });
        goes_on || surplus > 0
    }
}
