//! Refills and drains: moves blocks between a CPU's lists and the free lists.

use core::ops::DerefMut;

use lock_api::MutexGuard;

use super::state::Zone;
use crate::percpu::{BATCH_SCALE_MAX, ListNumber, Owners, PerCpuLists, Pressure};
use crate::table::sync::{self, Ordering};
use crate::table::{Frame, FrameIndex, FrameKind, FrameWord, RacingFrees, Run};
use crate::types::{AllocContext, AllocFlags, FreeError, Migratetype, Order, Platform, Switches};

/// The lists of a CPU while the caller holds their lock.
pub(crate) type LockedLists<'z, 'm, P> = MutexGuard<'z, <P as Platform>::PerCpuLock, PerCpuLists<'m>>;

impl<P: Platform> Pressure for Zone<'_, P> {
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

impl<'m, P: Platform> Zone<'m, P> {
    /// Returns true if blocks of this order have per-CPU lists: small blocks and huge pages.
    ///
    /// Linux counterpart: `pcp_allowed_order`.
    #[inline]
    pub(crate) fn has_percpu_list(&self, order: Order) -> bool {
        order <= self.listed || (self.has_huge_lists && order == self.blocks.order())
    }

    /// Returns true if requests and frees bypass the per-CPU lists now.
    #[inline]
    pub(crate) fn bypasses_lists(&self) -> bool {
        self.shared.bypasses_lists.load(Ordering::Relaxed)
    }

    /// Returns true if requests and frees of this order use per-CPU lists now.
    #[inline]
    pub(crate) fn uses_lists(&self, order: Order) -> bool {
        self.has_percpu_list(order) && !self.bypasses_lists()
    }

    /// Locks a CPU's lists. Waits while another caller holds the lock. Returns `None` for an absent CPU.
    pub(crate) fn lock_lists(&self, cpu: u16) -> Option<LockedLists<'_, 'm, P>> {
        self.percpu.get(usize::from(cpu)).map(|lists| lists.lock())
    }

    /// Locks a CPU's lists. Returns `None` for an absent CPU, and if another caller holds the lock.
    #[inline]
    pub(crate) fn try_lock_lists(&self, cpu: u16) -> Option<LockedLists<'_, 'm, P>> {
        self.percpu.get(usize::from(cpu))?.try_lock()
    }

    /// Locks a CPU's lists, unless they have an owner. Waits while a caller other than an owner holds the lock. Returns
    /// `None` for an owner's lists and for an absent CPU.
    pub(crate) fn lock_unowned_lists(&self, cpu: u16, owners: &Owners<'_>) -> Option<LockedLists<'_, 'm, P>> {
        let lists = self.percpu.get(usize::from(cpu))?;
        loop {
            if owners.has(cpu) {
                return None;
            }
            if let Some(lists) = lists.try_lock() {
                return Some(lists);
            }
            sync::spin_loop();
        }
    }

    /// Takes a block from a CPU's list. Refills an empty list first. Returns `None` if the zone has no block for the
    /// list, and if another caller holds the lock of the lists.
    ///
    /// Linux counterpart: `rmqueue_pcplist`.
    pub(crate) fn take_percpu(&self, cpu: u16, context: AllocContext) -> Option<FrameIndex> {
        let mut lists = self.try_lock_lists(cpu)?;
        lists.note_allocs(1);
        self.take_from_lists(&mut lists, context)
    }

    /// Takes a block from lists that the caller has locked. Refills an empty list first. Returns `None` if the zone has
    /// no block for the list.
    ///
    /// Linux counterpart: `__rmqueue_pcplist`.
    pub(crate) fn take_from_lists(
        &self,
        lists: &mut PerCpuLists<'m>,
        context: AllocContext,
    ) -> Option<FrameIndex> {
        let number = lists.number(context.migratetype, context.order);
        if lists.is_list_empty(number) {
            let blocks = lists.refill_blocks(self, context.order);
            if self.switches.highatomic_first && context.flags.contains(AllocFlags::HIGHATOMIC) {
                return None;
            }
            self.refill_lists(lists, number, context, blocks);
        }
        lists.take_first(&self.frames, number, context.order)
    }

    /// Linux counterpart: `rmqueue_bulk`.
    fn refill_lists(
        &self,
        lists: &mut PerCpuLists<'m>,
        number: ListNumber,
        context: AllocContext,
        blocks: u32,
    ) {
        let mut guard = self.lock();
        let mut refill = guard.refill(context);
        let mut taken = 0;
        while taken < blocks
            && let Some(run) = refill.next_run(blocks - taken)
        {
            self.append_percpu(lists, number, run, self.frames.word(run.first).migratetype());
            taken += run.blocks;
        }
        guard.state.stats.refills += 1;
        guard.state.stats.refilled_blocks += u64::from(taken);
        drop(guard);
        lists.note_refill();
    }

    /// Puts blocks at the tail of one of a CPU's lists. `found_under` is the type of the free list that had them.
    pub(crate) fn append_percpu(
        &self,
        lists: &mut PerCpuLists<'m>,
        number: ListNumber,
        run: Run,
        found_under: Migratetype,
    ) {
        let word = FrameWord::head(FrameKind::PerCpu, run.order, found_under);
        for index in run.iter() {
            self.frames.set_word(index, word);
        }
        lists.append(&self.frames, number, run);
    }

    /// Puts a freed single page on lists that the caller has locked, if the free needs no further checks. Otherwise
    /// returns `None` and changes nothing. The caller has checked that the zone has plenty of single pages.
    #[expect(clippy::inline_always, reason = "a call would cost as much as half of what it does")]
    #[inline(always)]
    pub(crate) fn free_page_fast(
        &self,
        lists: &mut PerCpuLists<'m>,
        page: (FrameIndex, &Frame),
    ) -> Option<()> {
        if !lists.has_room_for_page() {
            return None;
        }
        let index = self.give_back_fast(lists.freed_type(), page, Order::ZERO)?;
        lists.put_page_fast(index);
        Some(())
    }

    /// Puts freed single pages on lists as [`Self::free_page_fast`] does, until one needs further checks. Returns the
    /// number of pages freed.
    pub(crate) fn free_pages_fast<'f>(
        &self,
        lists: &mut PerCpuLists<'m>,
        pages: impl Iterator<Item = (FrameIndex, &'f Frame)>,
    ) -> u32 {
        let list_type = lists.freed_type();
        lists.put_pages_fast(pages.map_while(|page| self.give_back_fast(list_type, page, Order::ZERO)))
    }

    /// Puts freed blocks of an order from 1 to [`Zone::listed`] on lists as [`Self::free_pages_fast`] does.
    pub(crate) fn free_blocks_fast<'f>(
        &self,
        lists: &mut PerCpuLists<'m>,
        order: Order,
        blocks: impl Iterator<Item = (FrameIndex, &'f Frame)>,
    ) -> u32 {
        let list_type = lists.freed_type();
        let mut freed = 0;
        if !self.switches.auto_tuned_high {
            return freed;
        }
        for block in blocks {
            if !lists.has_room_for_block(order) {
                break;
            }
            let Some(index) = self.give_back_fast(list_type, block, order) else { break };
            lists.put_block_fast(&self.frames, index, order, list_type);
            freed += 1;
        }
        freed
    }

    /// Takes a block of `order` from the owner that frees it. Returns `None` if the block has no owner, or its
    /// pageblock does not have the type `list_type`.
    #[expect(clippy::inline_always, reason = "a call would cost as much as half of what it does")]
    #[inline(always)]
    fn give_back_fast(
        &self,
        list_type: Migratetype,
        (index, frame): (FrameIndex, &Frame),
        order: Order,
    ) -> Option<FrameIndex> {
        let word = frame.word();
        let fits = word.is_owned_of(order) && self.blocks.is_of(index, list_type);
        (fits && frame.replace_owned(word, word.given_back(), RacingFrees::of::<P>())).then_some(index)
    }

    /// Puts a freed block on lists that the caller has locked, and drains the pages above `high`. `again` is called
    /// between two holds of the zone lock, and may release and retake the lists' lock.
    ///
    /// Linux counterpart: `free_frozen_page_commit`.
    pub(crate) fn put_percpu<G: DerefMut<Target = PerCpuLists<'m>>>(
        &self,
        mut lists: G,
        index: FrameIndex,
        order: Order,
        block_type: Migratetype,
        again: impl FnMut(G) -> Option<G>,
    ) {
        let list_type = if block_type.is_mergeable() { block_type } else { Migratetype::Movable };
        let frame = self.frames.frame(index);
        frame.set_word(self.freed_word(frame.word(), order, block_type));
        if order > Order::ZERO
            && order <= self.listed
            && self.switches.auto_tuned_high
            && self.has_plenty(Order::ZERO)
            && lists.has_room_for_block(order)
        {
            return lists.put_block_fast(&self.frames, index, order, list_type);
        }
        let number = lists.put_first(&self.frames, index, order, list_type);
        let Some(surplus) = lists.surplus_after_free(self, order) else { return };
        let step = if self.switches.batched_free { lists.batch() } else { surplus };
        self.drain_surplus(lists, number, surplus, step, again);
        if self.switches.below_high_mark {
            self.clear_below_high();
        }
    }

    /// Frees an allocated block to a CPU's list or, if another caller holds the lock of the lists, to the free lists.
    ///
    /// Linux counterpart: `free_frozen_pages`.
    #[inline]
    pub(crate) fn free_owned(&self, cpu: u16, index: FrameIndex, order: Order) -> Result<(), FreeError> {
        self.reclaim_ownership(index, order)?;
        let lists = self.uses_lists(order).then(|| self.try_lock_lists(cpu)).flatten();
        // The type is read under the lists' lock, as on the fast path. A drain after the isolation of the pageblock
        // comes after a free that has not seen the isolation, and finds the block.
        let block_type = self.blocks.get(index);
        match lists {
            Some(_) if !self.is_mine(index) => return Err(FreeError::AlreadyFree),
            // Lets other callers take both locks between two batches.
            Some(lists) if block_type != Migratetype::Isolate => {
                self.put_percpu(lists, index, order, block_type, |lists| {
                    drop(lists);
                    self.try_lock_lists(cpu)
                });
            }
            busy => {
                drop(busy);
                let mut guard = self.lock();
                if !self.is_mine(index) {
                    return Err(FreeError::AlreadyFree);
                }
                guard.free_direct(index, order, block_type);
            }
        }
        Ok(())
    }

    /// Returns true unless another caller, against the embedder's promise, has freed the block since [`Zone::reclaim_ownership`].
    #[inline]
    pub(crate) fn is_mine(&self, index: FrameIndex) -> bool {
        P::DETECTS_RACING_FREES || self.frames.word(index).kind() == FrameKind::InTransit
    }

    /// Drains `surplus` pages, or all pages if there are fewer. Starts at list `from`, and drains at most `step` pages
    /// in one hold of the zone lock. `again` is called between two holds, and may release and retake the lists' lock.
    fn drain_surplus<G: DerefMut<Target = PerCpuLists<'m>>>(
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
        while left > 0 {
            while left > 0
                && let Some(run) = lists.take_last(&self.frames, number, left)
            {
                left = left.saturating_sub(run.pages());
                drained += u64::from(run.pages());
                guard.free_drained(run);
            }
            number = lists.next(number);
        }
        let stats = &mut guard.state.stats;
        stats.drains += 1;
        stats.drained_pages += drained;
        stats.largest_drain = stats.largest_drain.max(drained);
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
