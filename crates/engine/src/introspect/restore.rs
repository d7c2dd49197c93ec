//! Saving the state of a zone, and restoring it in another memory.
//!
//! A zone is restored in this order: the types of its pageblocks, every free block in list order, the blocks on
//! per-CPU lists, and the rest of its state.

use crate::percpu::PerCpuState;
use crate::table::sync::Ordering;
use crate::table::{FrameIndex, FrameWord, Place, Run};
use crate::types::{Migratetype, Order, Pfn, Platform, SetupError};
use crate::zone::{ListOp, MOST_PAGES, Zone, ZoneGuard};

/// The state of a zone apart from its blocks and the types of its pageblocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ZoneState {
    /// The number of pages by which fallbacks raised the watermarks. Linux counterpart: `watermark_boost`.
    pub watermark_boost: u64,
    /// The number of pages of pageblocks reserved for atomic requests. Linux counterpart: `nr_reserved_highatomic`.
    pub reserved_highatomic: u64,
    /// True if kswapd is to reclaim because of a boost. Linux counterpart: `ZONE_BOOSTED_WATERMARK`.
    pub boosted: bool,
    /// True while reclaim works on the zone. Linux counterpart: `ZONE_RECLAIM_ACTIVE`.
    pub reclaim_active: bool,
    /// True if the zone fell below its high watermark. Linux counterpart: `ZONE_BELOW_HIGH`.
    pub below_high: bool,
}

impl<P: Platform> Zone<'_, P> {
    /// Brings absent frames into service as one free block at the tail of a free list.
    ///
    /// # Errors
    /// As [`Zone::add_free`]; also [`SetupError::BadBlock`] for a frame that is not aligned to `order`, for an order
    /// above the largest and, with hygiene, for a list of another type than the pageblock's.
    pub fn add_free_block(&self, pfn: Pfn, order: Order, list: Migratetype) -> Result<(), SetupError> {
        if !self.may_be_listed(pfn, list) {
            return Err(SetupError::BadBlock { at: pfn });
        }
        let mut guard = self.lock();
        let index = guard.absent_block(pfn, order)?;
        guard.update_list(index, order, ListOp::Enter(list, Place::Tail));
        guard.account_before_hygiene(order.pages() as i64, list);
        Ok(())
    }

    /// Brings absent frames into service as one block at the tail of one of a CPU's lists.
    ///
    /// `origin` is the type under which the block was freed. Only the eras without hygiene use it.
    ///
    /// # Errors
    /// As [`Zone::add_free_block`]; also [`SetupError::NoCpu`] for an absent CPU, and
    /// [`SetupError::BadBlock`] for an order or type without such a list.
    pub fn add_percpu_block(
        &self,
        cpu: u16,
        pfn: Pfn,
        order: Order,
        list: Migratetype,
        origin: Migratetype,
    ) -> Result<(), SetupError> {
        let mut lists = self.lock_lists(cpu).ok_or(SetupError::NoCpu)?;
        if !list.is_mergeable() || !self.has_percpu_list(order) {
            return Err(SetupError::BadBlock { at: pfn });
        }
        let mut guard = self.lock();
        let index = guard.absent_block(pfn, order)?;
        let run = Run::single(index, order);
        guard.count_taken(run, origin);
        drop(guard);
        let number = lists.number(list, order);
        self.append_percpu(&mut lists, number, run, origin);
        Ok(())
    }

    /// Returns the state of a CPU's lists apart from their blocks; `None` for an absent CPU.
    pub fn percpu_state(&self, cpu: u16) -> Option<PerCpuState> {
        self.lock_lists(cpu).map(|lists| lists.state())
    }

    /// Sets the state of a CPU's lists apart from their blocks. For an absent CPU nothing happens.
    pub fn restore_percpu_state(&self, cpu: u16, state: PerCpuState) {
        if let Some(mut lists) = self.lock_lists(cpu) {
            lists.set_state(state, &self.switches);
        }
    }

    /// Returns the state of the zone apart from its blocks.
    pub fn state(&self) -> ZoneState {
        let shared = &self.shared;
        ZoneState {
            watermark_boost: shared.boost.load(Ordering::Relaxed),
            reserved_highatomic: shared.reserved_highatomic.load(Ordering::Relaxed),
            boosted: shared.boosted.load(Ordering::Relaxed),
            reclaim_active: shared.reclaim_active.load(Ordering::Relaxed),
            below_high: shared.below_high.load(Ordering::Relaxed),
        }
    }

    /// Sets the state of the zone apart from its blocks.
    pub fn restore_state(&self, state: ZoneState) {
        let shared = &self.shared;
        let mut guard = self.lock();
        guard.state.reserved_highatomic = state.reserved_highatomic.min(MOST_PAGES);
        shared.boost.store(state.watermark_boost.min(MOST_PAGES), Ordering::Relaxed);
        shared.boosted.store(state.boosted, Ordering::Relaxed);
        shared.reclaim_active.store(state.reclaim_active, Ordering::Relaxed);
        shared.below_high.store(state.below_high, Ordering::Relaxed);
    }
}

impl<P: Platform> ZoneGuard<'_, '_, P> {
    /// Marks the frames of an absent block as tails. Returns the first frame.
    fn absent_block(&self, pfn: Pfn, order: Order) -> Result<FrameIndex, SetupError> {
        let zone = self.zone;
        let (start, end) = zone.absent_range(pfn, order.pages())?;
        if !start.is_aligned(order) || order > zone.max_order {
            return Err(SetupError::BadBlock { at: pfn });
        }
        for index in start.0..end.0 {
            zone.frames.set_word(FrameIndex(index), FrameWord::TAIL);
        }
        self.count_present(order.pages() as i64);
        Ok(start)
    }
}
