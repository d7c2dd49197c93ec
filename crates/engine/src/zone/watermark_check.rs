//! The watermark check: how many pages of a zone each kind of request must leave free.

use super::guard::ZoneGuard;
use super::state::{LockedState, Zone};
use super::watermark_levels::Mark;
use crate::table::sync::Ordering;
use crate::types::{AllocFlags, GfpFlags, Migratetype, Order, Platform};

/// The default amount by which one fallback raises the watermarks, in ten-thousandths of the high watermark.
pub(crate) const DEFAULT_BOOST_FACTOR: u64 = 15_000;

/// The properties of a request that decide its watermark check.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Admission {
    pub(crate) order: Order,
    pub(crate) mark: Mark,
    /// The highest zone type that the request could use. It selects the lowmem reserve.
    pub(crate) highest_zone: usize,
    pub(crate) flags: AllocFlags,
}

impl<P: Platform> Zone<'_, P> {
    pub(crate) fn mark(&self, mark: Mark) -> u64 {
        self.shared.watermarks.get(mark) + self.shared.boost.load(Ordering::Relaxed)
    }

    /// Returns the number of free pages that this request cannot use.
    ///
    /// Linux counterpart: `__zone_watermark_unusable_free`.
    fn unusable(&self, order: Order, flags: AllocFlags) -> i64 {
        let mut pages = order.pages() - 1;
        if !flags.intersects(AllocFlags::RESERVES) {
            let reserve = if self.switches.highatomic_by_free {
                &self.shared.free_highatomic
            } else {
                &self.shared.reserved_highatomic
            };
            pages += reserve.load(Ordering::Relaxed);
        }
        if !flags.contains(AllocFlags::CMA) {
            pages += self.shared.free_cma.load(Ordering::Relaxed);
        }
        pages as i64
    }

    /// Returns true if the zone can serve a request and stay above `mark` pages.
    ///
    /// Linux counterpart: `__zone_watermark_ok`.
    #[inline]
    pub(crate) fn is_above(&self, mark: u64, admission: Admission) -> bool {
        self.is_above_with(self.shared.free_pages.load(Ordering::Relaxed), mark, admission)
    }

    /// Returns the result of [`Self::is_above`] as if `free_pages` pages were free.
    pub(crate) fn is_above_with(&self, free_pages: u64, mark: u64, admission: Admission) -> bool {
        let Admission { order, flags, highest_zone, .. } = admission;
        let free = free_pages as i64 - self.unusable(order, flags);
        let mut min = mark as i64;
        if flags.contains(AllocFlags::MIN_RESERVE) {
            min -= min / 2;
            if flags.contains(AllocFlags::NON_BLOCK) {
                min -= min / 4;
            }
        }
        if flags.contains(AllocFlags::OOM) {
            min -= min / 2;
        }
        if free <= min + self.lowmem_reserve[highest_zone] as i64 {
            return false;
        }
        order == Order::ZERO || self.has_block(order, flags)
    }

    /// Returns one bit for each order of which a list of a mergeable type has a block.
    #[inline]
    fn occupied_mergeable(&self) -> u32 {
        use Migratetype::{Movable, Reclaimable, Unmovable};
        self.occupied(Unmovable) | self.occupied(Movable) | self.occupied(Reclaimable)
    }

    /// Returns true if a list that the request may use has a block of `order` or more.
    fn has_block(&self, order: Order, flags: AllocFlags) -> bool {
        use Migratetype::{Cma, HighAtomic};
        let mut occupied = self.occupied_mergeable();
        if flags.contains(AllocFlags::CMA) {
            occupied |= self.occupied(Cma);
        }
        if flags.intersects(AllocFlags::HIGHATOMIC | AllocFlags::OOM) {
            occupied |= self.occupied(HighAtomic);
        }
        occupied >> order.get() != 0
    }

    /// Returns true if any list has a block of `order` or more.
    pub(crate) fn has_any_block(&self, order: Order) -> bool {
        let occupied = &self.shared.occupied;
        occupied.iter().fold(0, |all, of_type| all | of_type.load(Ordering::Relaxed)) >> order.get() != 0
    }

    /// Returns true if the zone admits a request at the watermark of the admission.
    ///
    /// Linux counterpart: `zone_watermark_fast`.
    fn admits(&self, admission: Admission) -> bool {
        self.admits_at(self.mark(admission.mark), admission)
    }

    /// Returns true if the zone admits a request at `mark` pages. A request for a single page at the min watermark may
    /// ignore the boost.
    pub(crate) fn admits_at(&self, mark: u64, admission: Admission) -> bool {
        if self.is_above(mark, admission) {
            return true;
        }
        let unboosted = self.shared.watermarks.get(Mark::Min);
        let may_ignore_boost = admission.order == Order::ZERO
            && admission.mark == Mark::Min
            && admission.flags.contains(AllocFlags::IGNORE_BOOST)
            && self.shared.boost.load(Ordering::Relaxed) > 0;
        may_ignore_boost && self.is_above(unboosted, admission)
    }

    /// Returns true if the zone admits a request. Sets the below-high flag if the zone is below its high watermark.
    ///
    /// Linux counterpart: the watermark part of `get_page_from_freelist`.
    pub(crate) fn admits_and_marks(&self, admission: Admission) -> bool {
        if !self.switches.below_high_mark {
            return self.admits(admission);
        }
        let below_high = &self.shared.below_high;
        if !below_high.load(Ordering::Relaxed) {
            if self.admits(Admission { mark: Mark::High, ..admission }) {
                return true;
            }
            self.note_below_high();
        }
        self.admits(admission)
    }

    /// Sets the below-high flag. With [`crate::Switches::marks_by_pages`] only if too few pages are free.
    fn note_below_high(&self) {
        // A zone with plenty is balanced.
        if self.switches.marks_by_pages && (self.has_plenty(Order::ZERO) || self.is_balanced()) {
            return;
        }
        self.shared.below_high.store(true, Ordering::Relaxed);
        self.shared.plenty.store(0, Ordering::Relaxed);
    }

    /// Sets the flags that a failing request sets in a zone without a suitable block: below high, and kswapd wanted.
    pub(crate) fn note_failure(&self, gfp: GfpFlags) {
        if self.switches.below_high_mark && !self.shared.below_high.load(Ordering::Relaxed) {
            self.note_below_high();
        }
        if gfp.contains(GfpFlags::KSWAPD_RECLAIM) {
            self.shared.kswapd_wanted.store(true, Ordering::Relaxed);
        }
    }

    /// Clears the below-high flag if the zone is above its high watermark again.
    pub(crate) fn clear_below_high(&self) {
        if !self.shared.below_high.load(Ordering::Relaxed) {
            return;
        }
        if self.is_balanced() {
            self.shared.below_high.store(false, Ordering::Relaxed);
        }
    }
}

impl<P: Platform> Zone<'_, P> {
    /// Returns the number of orders, from 0 up, whose requests need no watermark check.
    ///
    /// The result errs on the low side: all pages that some request must leave free are subtracted, so that
    /// [`Zone::admits_and_marks`] would admit the same request at the high watermark.
    pub(crate) fn plenty(&self, state: &LockedState) -> u32 {
        let spare = self.spare_pages(state);
        if spare <= Order::COSTLY.pages() {
            return 0;
        }
        let orders = (u32::BITS - self.occupied_mergeable().leading_zeros()).max(1);
        if spare > self.max_order.pages() { orders } else { orders.min(u32::from(Order::COSTLY.get()) + 1) }
    }

    /// Returns the number of free pages that exceed what any request must leave free. Returns 0 while a boost, active
    /// reclaim or the below-high flag is pending.
    fn spare_pages(&self, state: &LockedState) -> u64 {
        let shared = &self.shared;
        let pending = shared.boosted.load(Ordering::Relaxed)
            | shared.below_high.load(Ordering::Relaxed)
            | shared.reclaim_active.load(Ordering::Relaxed);
        let kept = state.free_cma + state.free_highatomic.max(state.reserved_highatomic);
        let least = self.mark(Mark::High) + self.largest_lowmem_reserve + kept;
        if pending { 0 } else { state.free_pages.saturating_sub(least) }
    }

    /// Publishes a changed result of [`Self::plenty`]. While requests bypass the per-CPU lists, ends the bypass if the zone
    /// has a free pageblock, and otherwise publishes nothing, so that the zone has plenty of no order.
    #[inline]
    pub(crate) fn publish_plenty(&self, plenty: u32) {
        if self.bypasses_lists() {
            if self.occupied_mergeable() >> self.blocks.order().get() == 0 {
                return;
            }
            self.shared.bypasses_lists.store(false, Ordering::Relaxed);
        }
        self.shared.plenty.store(plenty, Ordering::Relaxed);
    }

    /// Returns the number of blocks of an order for which the free pages suffice before [`Self::plenty`] must be
    /// computed again.
    pub(crate) fn plenty_of(&self, order: Order, state: &LockedState) -> u32 {
        let beyond = self.spare_pages(state).saturating_sub(self.max_order.pages());
        u32::try_from(beyond >> order.get()).unwrap_or(u32::MAX)
    }
}

impl<P: Platform> ZoneGuard<'_, '_, P> {
    /// Boosts the watermarks after a fallback, so that reclaim frees pages for the next request.
    ///
    /// Linux counterpart: `boost_watermark`.
    pub(crate) fn boost_watermark(&mut self, flags: AllocFlags) {
        let zone = self.zone;
        let block = u64::from(zone.blocks.pages());
        let factor = zone.shared.boost_factor.load(Ordering::Relaxed);
        if factor == 0 || block * 4 > zone.managed_pages() {
            return;
        }
        let limit = zone.shared.watermarks.get(Mark::High) * factor / 10_000;
        if limit == 0 {
            return;
        }
        let boost = zone.shared.boost.load(Ordering::Relaxed);
        zone.shared.boost.store((boost + block).min(limit.max(block)), Ordering::Relaxed);
        self.state.stats.boosts += 1;
        if flags.contains(AllocFlags::KSWAPD) {
            zone.shared.boosted.store(true, Ordering::Relaxed);
        }
    }
}
