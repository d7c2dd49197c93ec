//! The size of per-CPU lists: how many pages they take at a time, and how many they keep.

use super::cpu_lists::{BATCH_SCALE_MAX, PerCpuLists, PerCpuSettings};
use crate::types::{Order, Switches};

/// The largest batch, and the largest `high`. Sums of a few of them do not overflow, and neither do grown batches.
const MOST_BATCH: u32 = 1 << 20;
pub(super) const MOST_HIGH: u32 = 1 << 30;

impl PerCpuSettings {
    /// Returns the settings within limits: a batch of at least 1, and no number that could overflow.
    pub(super) fn limited(self) -> Self {
        Self {
            batch: self.batch.clamp(1, MOST_BATCH),
            high_min: self.high_min.min(MOST_HIGH),
            high_max: self.high_max.min(MOST_HIGH),
            ..self
        }
    }
}

/// The properties of a zone that tune its per-CPU lists.
pub(crate) trait Pressure {
    /// Returns the switches of the allocator generation.
    fn switches(&self) -> &Switches;

    /// Returns true if the zone is below its high watermark. Linux counterpart: `ZONE_BELOW_HIGH`.
    fn is_below_high(&self) -> bool;

    /// Returns true while reclaim works on the zone. Linux counterpart: `ZONE_RECLAIM_ACTIVE`.
    fn is_reclaimed_from(&self) -> bool;
}

impl PerCpuLists<'_> {
    /// Returns the number of blocks to take in the next refill. The number grows with consecutive allocations.
    ///
    /// Linux counterpart: `nr_pcp_alloc`.
    pub(crate) fn refill_blocks(&mut self, zone: &impl Pressure, order: Order) -> u32 {
        let base = self.settings.batch;
        let pages = if zone.switches().auto_tuned_high { self.tuned_refill(zone, order) } else { Some(base) };
        self.update_fast_below(zone.switches());
        match pages {
            None => 1,
            Some(pages) if pages > 1 => (pages >> order.get()).max(2),
            Some(pages) => pages,
        }
    }

    fn tuned_refill(&mut self, zone: &impl Pressure, order: Order) -> Option<u32> {
        let settings = self.settings;
        let base = settings.batch;
        self.high = clamp(self.high, settings.high_min, settings.high_max);
        if self.high < base {
            return None;
        }
        let mut pages = if order == Order::ZERO { base << self.alloc_factor } else { base };
        if settings.high_min != settings.high_max && !zone.is_below_high() {
            self.set_high((self.high + pages).min(settings.high_max));
        }
        if order == Order::ZERO {
            let most = (i64::from(self.high) - i64::from(self.count) - i64::from(base)).max(i64::from(base));
            if i64::from(pages) <= most && self.alloc_factor < BATCH_SCALE_MAX {
                self.alloc_factor += 1;
            }
            pages = pages.min(most as u32);
        }
        Some(pages)
    }

    fn set_high(&mut self, high: u32) {
        self.high = high;
        self.stats.highest_high = self.stats.highest_high.max(high);
    }

    /// Sets `fast_below`: with fewer pages than that on the lists, the free of a single page does not change `high`.
    pub(super) fn update_fast_below(&mut self, switches: &Switches) {
        let settings = self.settings;
        let within = settings.high_min <= self.high && self.high <= settings.high_max;
        // Before hygiene a free records the pageblock's type in the word. The fast path does not.
        self.fast_below = if within && switches.auto_tuned_high && switches.hygiene { self.high } else { 0 };
    }

    /// Notes `number` consecutive allocations.
    #[inline]
    pub(crate) fn note_allocs(&mut self, number: u32) {
        self.free_count = self.free_count.unbounded_shr(number);
        self.free_factor = self.free_factor.unbounded_shr(number);
    }

    /// Notes the frees of single pages. The lists must have fewer pages than [`PerCpuLists::fast_below`], and the zone
    /// must have plenty.
    #[inline]
    pub(super) fn note_fast_frees(&mut self, number: u32) {
        if number > 0 {
            let most = self.settings.batch << BATCH_SCALE_MAX;
            self.alloc_factor = self.alloc_factor.unbounded_shr(number);
            self.last_free_was_high_order = false;
            self.free_count += number.min(most.saturating_sub(self.free_count));
        }
    }

    /// Returns true if a free of this order may flush the lists, as one of several consecutive high-order frees.
    #[inline]
    pub(super) fn may_flush(&self, order: Order) -> bool {
        order <= Order::COSTLY && self.last_free_was_high_order && self.free_count >= self.settings.batch
    }

    /// Notes the free of a block above order 0, as [`Self::note_fast_frees`] does for single pages. Does not flush the
    /// lists.
    #[inline]
    pub(super) fn note_fast_block(&mut self, order: Order) {
        self.alloc_factor >>= 1;
        self.last_free_was_high_order = order <= Order::COSTLY;
        if self.free_count < self.settings.batch << BATCH_SCALE_MAX {
            self.free_count += 1 << order.get();
        }
    }

    /// Notes a refill under the zone lock.
    pub(crate) fn note_refill(&mut self) {
        self.stats.refills += 1;
    }

    /// Returns the number of pages to drain after a free of `order`, or `None` if the lists are below their `high`.
    #[expect(clippy::inline_always, reason = "a call would cost a tenth of what it does")]
    #[inline(always)]
    pub(crate) fn surplus_after_free(&mut self, zone: &impl Pressure, order: Order) -> Option<u32> {
        if !zone.switches().auto_tuned_high {
            return self.doubling_surplus(zone, order);
        }
        let surplus = self.tuned_surplus(zone, order);
        self.update_fast_below(zone.switches());
        surplus
    }

    /// Linux counterpart: `nr_pcp_high` and `nr_pcp_free` before 6.7.
    fn doubling_surplus(&mut self, zone: &impl Pressure, order: Order) -> Option<u32> {
        let batch = self.settings.batch;
        let flush = self.free_factor > 0 && order > Order::ZERO && order <= Order::COSTLY;
        let high = if flush || self.high == 0 {
            0
        } else if zone.is_reclaimed_from() {
            (batch << 2).min(self.high)
        } else {
            self.high
        };
        if self.count < high {
            return None;
        }
        if flush {
            return Some(self.count);
        }
        if high < batch {
            return Some(1);
        }
        let most = high - batch;
        let pages = batch << self.free_factor;
        if pages < most && self.free_factor < BATCH_SCALE_MAX {
            self.free_factor += 1;
        }
        Some(clamp(pages, batch, most))
    }

    /// Linux counterpart: `free_frozen_page_commit`, `nr_pcp_high` and `nr_pcp_free` since 6.7.
    #[expect(clippy::inline_always, reason = "a call would cost a tenth of what it does")]
    #[inline(always)]
    fn tuned_surplus(&mut self, zone: &impl Pressure, order: Order) -> Option<u32> {
        let batch = self.settings.batch;
        self.alloc_factor >>= 1;
        let flush = self.note_high_order_free(zone, order);
        if self.free_count < batch << BATCH_SCALE_MAX {
            self.free_count += 1 << order.get();
        }
        let high = self.tuned_high(zone, flush);
        if self.count < high {
            return None;
        }
        if flush {
            return Some(self.count.min(batch << BATCH_SCALE_MAX));
        }
        if high < batch {
            return Some(1);
        }
        Some(clamp(self.free_count, batch, high - batch))
    }

    /// Notes a free. Returns true if the free should flush the lists, as one of several consecutive high-order frees.
    fn note_high_order_free(&mut self, zone: &impl Pressure, order: Order) -> bool {
        let settings = self.settings;
        let high_order = order > Order::ZERO && order <= Order::COSTLY;
        let threshold = if zone.switches().lazy_high_order_flush {
            settings.batch + settings.high_min / 2
        } else {
            settings.batch
        };
        let flush = high_order
            && self.last_free_was_high_order
            && self.free_count >= threshold
            && (!settings.flush_needs_batch || self.count >= settings.batch);
        self.last_free_was_high_order = high_order;
        flush
    }

    /// Returns the number of pages to keep after this free, and adjusts `high`.
    fn tuned_high(&mut self, zone: &impl Pressure, flush: bool) -> u32 {
        let settings = self.settings;
        let (low_bound, high_bound) = (settings.high_min, settings.high_max);
        let high = clamp(self.high, low_bound, high_bound);
        self.high = high;
        if high == 0 {
            return 0;
        }
        if flush {
            self.high = high.saturating_sub(settings.batch << BATCH_SCALE_MAX).max(low_bound);
            return 0;
        }
        let freed = self.free_count.max(settings.batch);
        if zone.is_reclaimed_from() {
            self.high = high.saturating_sub(freed).max(low_bound);
            return (settings.batch << 2).min(self.high);
        }
        if low_bound == high_bound {
            return high;
        }
        if zone.is_below_high() {
            self.high = high.saturating_sub(freed).max(low_bound);
            return self.count.max(low_bound);
        }
        if self.count >= high {
            let needed = self.free_count + settings.batch;
            if self.high < needed {
                self.set_high(clamp(needed, low_bound, high_bound));
            }
        }
        high
    }

    /// Returns the number of pages above `high`.
    pub(crate) fn above_high(&self) -> u32 {
        self.count.saturating_sub(self.high)
    }

    /// Lowers `high` by an eighth towards its lower bound. Returns true if `high` is still above that bound.
    pub(crate) fn decay_high(&mut self, switches: &Switches) -> bool {
        let low_bound = self.settings.high_min;
        if self.high <= low_bound {
            return false;
        }
        let step = self.settings.batch << BATCH_SCALE_MAX;
        self.high = self.count.saturating_sub(step).max(self.high - (self.high >> 3)).max(low_bound);
        self.update_fast_below(switches);
        self.high > low_bound
    }
}

impl PerCpuLists<'_> {
    /// Returns the settings.
    pub(crate) fn settings(&self) -> PerCpuSettings {
        self.settings
    }

    /// Changes the settings. Numbers outside their limits are replaced by the limit.
    ///
    /// Linux counterpart: `pageset_update`.
    pub(crate) fn set_settings(&mut self, settings: PerCpuSettings, switches: &Switches) {
        let settings = settings.limited();
        self.settings = settings;
        if !switches.auto_tuned_high {
            self.high = settings.high_min;
        }
        self.update_fast_below(switches);
    }
}

/// Returns `value` limited to the bounds. An administrator can set `low` above `high`: then a value of at least `high`
/// becomes `high`, and any other becomes at least `low`.
///
/// Linux counterpart: `clamp`.
fn clamp(value: u32, low: u32, high: u32) -> u32 {
    if value >= high { high } else { value.max(low) }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::cpu_lists::LISTS;
    use super::super::list::PerCpuList;
    use super::*;
    use crate::types::Era;

    #[test]
    fn decay_is_at_its_end_only_at_the_lower_bound() {
        let switches = Era::Linux7_3.switches();
        let settings = PerCpuSettings { batch: 4, high_min: 8, high_max: 64, flush_needs_batch: false };
        // Lists with more pages than `high`, as many, and none.
        for count in [60, 40, 0] {
            let lists = core::array::from_fn::<_, LISTS, _>(|_| PerCpuList::new(&mut []));
            let mut lists = PerCpuLists::new(settings, &switches, Order::COSTLY, lists);
            (lists.count, lists.high) = (count, 40);
            let mut highs = std::vec![];
            loop {
                let goes_on = lists.decay_high(&switches);
                highs.push(lists.high);
                assert_eq!(goes_on, lists.high > settings.high_min, "{count} pages: {highs:?}");
                assert_eq!(lists.above_high(), count.saturating_sub(lists.high));
                if !goes_on {
                    break;
                }
            }
            assert_eq!(highs, [35, 31, 28, 25, 22, 20, 18, 16, 14, 13, 12, 11, 10, 9, 8], "{count} pages");
        }
    }
}
