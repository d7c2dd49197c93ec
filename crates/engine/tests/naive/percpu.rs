//! The naive allocator's per-CPU lists.

use std::collections::VecDeque;

use super::{Level, MOVABLE, Naive, Settings, TYPES};

/// The number of lists in the round robin of a drain: orders 0 to 8, then huge pages.
const LISTS: usize = 29;

/// The base-2 logarithm of the largest factor by which a batch grows.
const SCALE: i64 = 5;

/// One block on a list: frame, order, and a type. The type is that of its pageblock when it was put there or, with
/// claims by counts, the type that its last owner requested.
type Entry = (u64, u8, usize);

#[derive(Clone)]
pub(crate) struct CpuLists {
    pub(crate) lists: Vec<VecDeque<Entry>>,
    high: i64,
    alloc_factor: i64,
    free_count: i64,
    free_factor: i64,
    high_order_before: bool,
}

impl CpuLists {
    pub(crate) fn new(set: &Settings) -> Self {
        Self {
            lists: vec![VecDeque::new(); LISTS],
            high: set.high_min,
            alloc_factor: 0,
            free_count: 0,
            free_factor: 0,
            high_order_before: false,
        }
    }

    pub(crate) fn pages(&self) -> i64 {
        self.lists.iter().flatten().map(|&(_, order, _)| 1 << order).sum()
    }
}

impl Naive {
    pub(crate) fn has_cpu_list(&self, order: u8) -> bool {
        let below_pageblock = order <= 8 && order < self.set.block_order;
        order <= 3
            || (self.set.switches.percpu_large_orders && below_pageblock)
            || (order == self.set.block_order && order < self.set.max_order)
    }

    /// Returns the number of a list.
    pub(crate) fn list_number(&self, order: u8, kind: usize) -> usize {
        match order {
            0..=3 => TYPES * usize::from(order) + kind,
            4..=8 if self.set.switches.percpu_large_orders && order < self.set.block_order => {
                TYPES * usize::from(order) + kind
            }
            _ => 27 + usize::from(kind == MOVABLE),
        }
    }

    pub(crate) fn take_from_cpu(&mut self, cpu: usize, order: u8, kind: usize) -> Option<u64> {
        let number = self.list_number(order, kind);
        self.cpus[cpu].free_count /= 2;
        self.cpus[cpu].free_factor /= 2;
        if self.cpus[cpu].lists[number].is_empty() {
            let mut level = Level::Native;
            for _ in 0..self.refill_size(cpu, order) {
                let Some(pfn) = self.next(order, kind, &mut level) else { break };
                // A stolen block keeps the type of its list. Before hygiene all blocks come from the native list.
                self.cpus[cpu].lists[number].push_back((pfn, order, kind));
            }
        }
        self.cpus[cpu].lists[number].pop_front().map(|(pfn, ..)| pfn)
    }

    fn refill_size(&mut self, cpu: usize, order: u8) -> i64 {
        let (set, below_high) = (self.set, self.below_high);
        let lists = &mut self.cpus[cpu];
        let mut pages = set.batch;
        if set.switches.auto_tuned_high {
            lists.high = lists.high.clamp(set.high_min, set.high_max);
            if lists.high < set.batch {
                return 1;
            }
            if order == 0 {
                pages <<= lists.alloc_factor;
            }
            if set.high_min != set.high_max && !below_high {
                lists.high = (lists.high + pages).min(set.high_max);
            }
            if order == 0 {
                let most = (lists.high - lists.pages() - set.batch).max(set.batch);
                if pages <= most && lists.alloc_factor < SCALE {
                    lists.alloc_factor += 1;
                }
                pages = pages.min(most);
            }
        }
        if pages > 1 { (pages >> order).max(2) } else { pages }
    }

    pub(crate) fn put_to_cpu(&mut self, cpu: usize, pfn: u64, order: u8, requested: usize) {
        let kind = self.block_type(pfn);
        let number = self.list_number(order, kind);
        let by_counts = self.set.switches.claims_by_counts && self.set.switches.hygiene;
        self.cpus[cpu].lists[number].push_front((pfn, order, if by_counts { requested } else { kind }));
        let excess = if self.set.switches.auto_tuned_high {
            self.tuned_excess(cpu, order)
        } else {
            self.doubling_excess(cpu, order)
        };
        let Some(mut excess) = excess else { return };
        let step = if self.set.switches.batched_free { self.set.batch } else { i64::MAX };
        while excess > 0 {
            self.drain(cpu, excess.min(step), number);
            excess = excess.saturating_sub(step);
        }
        if self.below_high && self.is_above_high() {
            self.below_high = false;
        }
    }

    /// Returns the number of pages to drain, or `None` if the lists have few enough.
    fn doubling_excess(&mut self, cpu: usize, order: u8) -> Option<i64> {
        let (batch, reclaiming) = (self.set.batch, self.reclaiming);
        let lists = &mut self.cpus[cpu];
        let pages = lists.pages();
        if lists.free_factor > 0 && (1..=3).contains(&order) {
            return Some(pages);
        }
        let high = if reclaiming { self.set.high_min.min(4 * batch) } else { self.set.high_min };
        if pages < high {
            return None;
        }
        if high < batch {
            return Some(1);
        }
        let doubled = batch << lists.free_factor;
        if doubled < high - batch && lists.free_factor < SCALE {
            lists.free_factor += 1;
        }
        Some(doubled.max(batch).min(high - batch))
    }

    fn tuned_excess(&mut self, cpu: usize, order: u8) -> Option<i64> {
        let (set, below_high, reclaiming) = (self.set, self.below_high, self.reclaiming);
        let lists = &mut self.cpus[cpu];
        let (batch, pages, most) = (set.batch, lists.pages(), set.batch << SCALE);
        lists.alloc_factor /= 2;
        let high_order = (1..=3).contains(&order);
        let lazy = if set.switches.lazy_high_order_flush { set.high_min / 2 } else { 0 };
        let flush = high_order
            && lists.high_order_before
            && lists.free_count >= batch + lazy
            && (!set.flush_needs_batch || pages >= batch);
        lists.high_order_before = high_order;
        if lists.free_count < most {
            lists.free_count += 1 << order;
        }
        lists.high = lists.high.clamp(set.high_min, set.high_max);
        let mut high = lists.high;
        if high > 0 && flush {
            lists.high = (high - most).max(set.high_min);
            return Some(pages.min(most));
        }
        if reclaiming && high > 0 {
            lists.high = (high - lists.free_count.max(batch)).max(set.high_min);
            high = lists.high.min(4 * batch);
        } else if set.high_min != set.high_max && high > 0 {
            if below_high {
                lists.high = (high - lists.free_count.max(batch)).max(set.high_min);
                high = pages.max(set.high_min);
            } else if pages >= high && high < lists.free_count + batch {
                lists.high = (lists.free_count + batch).clamp(set.high_min, set.high_max);
            }
        }
        if pages < high {
            return None;
        }
        if flush {
            return Some(pages.min(most));
        }
        Some(if high < batch { 1 } else { lists.free_count.max(batch).min(high - batch) })
    }

    /// Drains at least `pages` pages, list after list from `number` on, last block first.
    fn drain(&mut self, cpu: usize, pages: i64, number: usize) {
        let mut left = pages;
        for number in (number..LISTS).chain(0..number) {
            while left > 0
                && let Some((pfn, order, seen)) = self.cpus[cpu].lists[number].pop_back()
            {
                left -= 1 << order;
                let kind = if self.set.switches.hygiene { self.block_type(pfn) } else { seen };
                self.free_block(pfn, order, kind, false);
                self.count_returned(pfn, order, seen);
            }
        }
    }

    pub(crate) fn drain_all(&mut self) {
        for cpu in 0..self.cpus.len() {
            self.drain(cpu, i64::MAX, 0);
        }
    }

    /// Refreshes a CPU's lists, as Linux does once a second.
    pub(crate) fn refresh(&mut self, cpu: usize) {
        if self.set.switches.auto_tuned_high {
            let (low, most) = (self.set.high_min, self.set.batch << SCALE);
            let lists = &mut self.cpus[cpu];
            let pages = lists.pages();
            if lists.high > low {
                lists.high = (pages - most).max(lists.high - lists.high / 8).max(low);
            }
            let mut excess = pages - lists.high;
            let step = if self.set.switches.batched_decay { self.set.batch } else { i64::MAX };
            while excess > 0 {
                // A batch that ends inside a block frees all of the block.
                self.drain(cpu, excess.min(step), 0);
                excess = excess.saturating_sub(step);
            }
        }
    }
}
