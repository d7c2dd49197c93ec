//! Saving and restoring the state of one CPU's lists.

use super::cpu_lists::{BATCH_SCALE_MAX, PerCpuLists};
use super::tuning::MOST_HIGH;
use crate::types::Switches;

/// The state of one CPU's lists apart from the blocks on them.
///
/// Linux counterpart: the fields of `struct per_cpu_pages`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PerCpuState {
    /// The number of pages above which the lists are drained. Linux counterpart: `high`.
    pub high: u32,
    /// The next refill is the batch times two to this power. Linux counterpart: `alloc_factor`.
    pub alloc_factor: u32,
    /// The number of pages freed since the last allocation, which halves it. Linux counterpart: `free_count`.
    pub free_count: u32,
    /// Before 6.7: the next drain is the batch times two to this power. Linux counterpart: `free_factor`.
    pub free_factor: u32,
    /// True if the last free was of an order above 0. Linux counterpart: `PCPF_PREV_FREE_HIGH_ORDER`.
    pub last_free_was_high_order: bool,
}

impl PerCpuLists<'_> {
    /// Returns the state of the lists apart from their blocks.
    pub(crate) fn state(&self) -> PerCpuState {
        PerCpuState {
            high: self.high,
            alloc_factor: self.alloc_factor,
            free_count: self.free_count,
            free_factor: self.free_factor,
            last_free_was_high_order: self.last_free_was_high_order,
        }
    }

    /// Sets the state of the lists apart from their blocks.
    pub(crate) fn set_state(&mut self, state: PerCpuState, switches: &Switches) {
        let PerCpuState { high, alloc_factor, free_count, free_factor, last_free_was_high_order } = state;
        (self.high, self.free_count) = (high.min(MOST_HIGH), free_count.min(MOST_HIGH));
        self.alloc_factor = alloc_factor.min(BATCH_SCALE_MAX);
        self.free_factor = free_factor.min(BATCH_SCALE_MAX);
        self.last_free_was_high_order = last_free_was_high_order;
        self.update_fast_below(switches);
    }
}
