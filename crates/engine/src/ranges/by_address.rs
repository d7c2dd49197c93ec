//! Allocation of one block by its address.

use core::ops::Range;

use crate::memory::Memory;
use crate::table::{FrameIndex, FrameKind, FrameWord, Place, Run};
use crate::types::{AllocAtError, Migratetype, Order, Pfn, Platform};
use crate::zone::{ListOp, ZoneGuard};

impl<P: Platform> Memory<'_, P> {
    /// Allocates exactly the block of `order` that starts at a frame, if all of it is free.
    ///
    /// The frames may be part of a larger free block, whose rest stays free, or of several smaller free blocks. If some
    /// frames are on a CPU's list, all lists of the zone are drained once. Pages in use are not moved; for that use
    /// [`Memory::alloc_contig_range`]. Flags and watermarks do not apply, so the caller may take the last page.
    /// The block counts as unmovable in a pageblock of any type, until the caller changes that by
    /// [`crate::Zone::set_movable`]. [`Memory::free`] frees the block.
    ///
    /// The function must not be called from an interrupt (see [`Platform`]), nor by a thread that owns a
    /// [`crate::Exclusive`], because a drain waits for the locks of all CPUs' lists.
    /// Linux counterpart: `take_page_off_buddy` for any order, after `drain_all_pages`.
    ///
    /// # Errors
    /// See [`AllocAtError`]. After an error the same pages are free as before, but lists may have been drained.
    pub fn alloc_at(&self, pfn: Pfn, order: Order) -> Result<(), AllocAtError> {
        if order > self.max_order {
            return Err(AllocAtError::OrderTooLarge);
        }
        if !pfn.is_aligned(order) {
            return Err(AllocAtError::Unaligned);
        }
        let zone = self.zone_of(pfn).ok_or(AllocAtError::OutsideZones)?;
        let range = zone.frame_range(pfn, order.pages()).map_err(|_| AllocAtError::OutsideZones)?;
        let taken = zone.lock().take_at(&range, order);
        if taken != Err(AllocAtError::Busy) {
            return taken;
        }
        zone.drain_all();
        zone.lock().take_at(&range, order)
    }
}

impl<P: Platform> ZoneGuard<'_, '_, P> {
    /// Takes the frames of a block off the free lists, and gives the block to its owner.
    fn take_at(&mut self, range: &Range<FrameIndex>, order: Order) -> Result<(), AllocAtError> {
        let zone = self.zone;
        self.is_takable(range)?;
        let mut at = zone.frames.block_head(range.start);
        while at < range.end {
            let found = zone.frames.word(at).order();
            let list = self.update_list(at, found, ListOp::Leave);
            self.give_back_around(at, found, range.start, order, list);
            self.account_before_hygiene(-(order.min(found).pages() as i64), list);
            at = at.offset(1 << found.get());
        }
        self.count_taken(Run::single(range.start, order), Migratetype::Unmovable);
        zone.frames.hand_over(range.start, FrameWord::requested(order, Migratetype::Unmovable));
        Ok(())
    }

    /// Returns an error unless all frames of a range are on free lists from which the caller may take them.
    fn is_takable(&self, range: &Range<FrameIndex>) -> Result<(), AllocAtError> {
        let zone = self.zone;
        let block = zone.blocks.pages() as usize;
        for start in (zone.blocks.start_of(range.start).0..range.end.0).step_by(block) {
            match zone.blocks.get(FrameIndex(start)) {
                Migratetype::Isolate => return Err(AllocAtError::Isolated),
                Migratetype::Cma => return Err(AllocAtError::Cma),
                _ => {}
            }
        }
        let mut outcome = Ok(());
        let mut at = zone.frames.block_head(range.start);
        while at < range.end {
            let word = zone.frames.word(at);
            let behind = at.offset(1 << word.order().get());
            let changed_hands = behind <= range.start;
            match word.kind() {
                _ if changed_hands => outcome = Err(AllocAtError::Busy),
                FrameKind::Free => {}
                FrameKind::Allocated | FrameKind::Reserved => {
                    return Err(AllocAtError::InUse { at: zone.frames.pfn(at) });
                }
                FrameKind::Absent => return Err(AllocAtError::OutsideZones),
                FrameKind::PerCpu | FrameKind::InTransit | FrameKind::Tail => {
                    outcome = Err(AllocAtError::Busy);
                }
            }
            at = behind.max(range.start);
        }
        outcome
    }

    /// Puts the rest of a block of order `found`, which has left `list`, back on that list: all of it except the block
    /// of `order` at `wanted`.
    ///
    /// Linux counterpart: `break_down_buddy_pages`.
    fn give_back_around(
        &mut self,
        block: FrameIndex,
        found: Order,
        wanted: FrameIndex,
        order: Order,
        list: Migratetype,
    ) {
        let (mut left, mut size) = (block, found);
        while size > order
            && let Some(half) = size.down()
        {
            let upper = left.offset(1 << half.get());
            let rest = if wanted >= upper { core::mem::replace(&mut left, upper) } else { upper };
            self.update_list(rest, half, ListOp::Enter(list, Place::Head));
            size = half;
        }
    }
}
