//! Checks whether a drain of CPUs' lists could merge pages into a block. Linux has no such check.

use crate::memory::Memory;
use crate::percpu::PerCpuLists;
use crate::table::{FrameIndex, FrameKind};
use crate::types::{GfpFlags, Order, Platform};
use crate::zone::Zone;

/// The most pages on a CPU's lists that are checked. Longer lists are worth a drain in any case.
const MOST_PAGES: u32 = 128;

impl<P: Platform> Memory<'_, P> {
    /// Returns true if a request may wait for a drain, and a drain of every CPU's lists could make a free block of
    /// `order` or more in a zone. The free lists have no such block.
    ///
    /// The result may be true without need, for instance if a CPU has more than [`MOST_PAGES`] pages on its lists, or if
    /// its lists have an owner. It is never wrongly false.
    #[inline]
    pub(crate) fn drain_may_bring(&self, zone: &Zone<'_, P>, order: Order, gfp: GfpFlags) -> bool {
        gfp.contains(GfpFlags::DIRECT_RECLAIM) && self.any_lists_may_bring(zone, order)
    }

    #[cold]
    #[inline(never)]
    fn any_lists_may_bring(&self, zone: &Zone<'_, P>, order: Order) -> bool {
        let lists_may_bring = |cpu| {
            let lists = zone.lock_unowned_lists(cpu, &self.owners);
            lists.is_none_or(|lists| zone.lists_may_bring(&lists, order))
        };
        (0..self.cpus()).any(lists_may_bring)
    }
}

impl<P: Platform> Zone<'_, P> {
    fn lists_may_bring(&self, lists: &PerCpuLists<'_>, order: Order) -> bool {
        if lists.count() == 0 {
            return false;
        }
        lists.count() > MOST_PAGES
            || lists
                .iter()
                .any(|list| list.iter(&self.frames).any(|block| self.may_merge_up_to(block, order)))
    }

    /// Returns true if a block on a CPU's list has `order`, or could merge with free blocks and blocks on CPUs' lists
    /// into a block of `order`.
    fn may_merge_up_to(&self, block: FrameIndex, order: Order) -> bool {
        let own = self.frames.word(block).order();
        own >= order || self.is_unowned(block.buddy(own)) && self.has_no_owner(block.align_down(order), order)
    }

    /// Returns true if no frame of the block of `order` at `start` has an owner.
    fn has_no_owner(&self, start: FrameIndex, order: Order) -> bool {
        let (mut at, end) = (start, start.offset(1 << order.get()));
        while at < end && self.is_unowned(at) {
            at = at.offset(1 << self.frames.word(at).order().get());
        }
        at >= end
    }

    /// Returns true if a free block or a block on a CPU's list starts at a frame.
    fn is_unowned(&self, index: FrameIndex) -> bool {
        let kind = self.frames.get(index).map(|frame| frame.word().kind());
        matches!(kind, Some(FrameKind::Free | FrameKind::PerCpu))
    }
}
