//! Pages on CPUs' lists that could merge: a question that Linux does not ask.

use super::state::Zone;
use crate::percpu::PerCpuLists;
use crate::table::sync::Platform;
use crate::table::{FrameIndex, FrameKind};
use crate::types::{GfpFlags, Order};

/// The most pages on a CPU's lists that are looked at: a drain of more costs less than what it brings.
const MOST_PAGES: u32 = 128;

impl<L: Platform> Zone<'_, L> {
    /// Returns true if a request may wait for a drain, and a drain of every CPU's lists could leave a free block
    /// of `order` or more on the free lists, which have none. Of lists with more than [`MOST_PAGES`] pages it is
    /// taken for granted; false is always right.
    ///
    /// Waits for an [`crate::Exclusive`] until it pauses, as a drain does.
    #[inline]
    pub(crate) fn drain_may_bring(&self, order: Order, gfp: GfpFlags) -> bool {
        gfp.contains(GfpFlags::DIRECT_RECLAIM) && self.any_lists_may_bring(order)
    }

    #[cold]
    #[inline(never)]
    fn any_lists_may_bring(&self, order: Order) -> bool {
        self.percpu.iter().any(|lists| self.lists_may_bring(&lists.lock(), order))
    }

    fn lists_may_bring(&self, lists: &PerCpuLists<'_>, order: Order) -> bool {
        if lists.count() == 0 {
            return false;
        }
        lists.count() > MOST_PAGES
            || lists
                .iter()
                .any(|list| list.iter(&self.frames).any(|block| self.may_merge_up_to(block, order)))
    }

    /// Returns true if a block on a CPU's list has `order`, or lies among free blocks and others on CPUs'
    /// lists which together have it.
    fn may_merge_up_to(&self, block: FrameIndex, order: Order) -> bool {
        let own = self.frames.word(block).order();
        own >= order || self.is_unowned(block.buddy(own)) && self.has_no_owner(block.align_down(order), order)
    }

    /// Returns true if every frame from `start` on that a block of `order` would have is without an owner.
    fn has_no_owner(&self, start: FrameIndex, order: Order) -> bool {
        let (mut at, end) = (start, start.offset(1 << order.get()));
        while at < end && self.is_unowned(at) {
            at = at.offset(1 << self.frames.word(at).order().get());
        }
        at >= end
    }

    /// Returns true if a free block or one on a CPU's list starts here.
    fn is_unowned(&self, index: FrameIndex) -> bool {
        let kind = self.frames.get(index).map(|frame| frame.word().kind());
        matches!(kind, Some(FrameKind::Free | FrameKind::PerCpu))
    }
}
