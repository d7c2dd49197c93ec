//! A zone's lists, block by block.

use crate::percpu::PerCpuLists;
use crate::sync::Locks;
use crate::zone::Zone;
use crate::{Migratetype, Order, Pfn};

impl<L: Locks> Zone<'_, L> {
    /// The first frames of the blocks on a free list, from first to last: the order
    /// in which requests are answered.
    ///
    /// The zone lock is held until the iterator is dropped, so nothing else may be
    /// asked of the zone from the same thread meanwhile.
    /// Linux counterpart: `zone->free_area[order].free_list[migratetype]`.
    pub fn free_list(&self, order: Order, migratetype: Migratetype) -> impl Iterator<Item = Pfn> {
        let guard = self.lock();
        let mut at = guard.first(order, migratetype);
        core::iter::from_fn(move || {
            let _held = &guard;
            let index = at?;
            at = self.frames.next(index);
            Some(self.frames.pfn(index))
        })
    }

    /// The first frames of the blocks on one of a CPU's lists, from first to last:
    /// the order in which requests are answered.
    ///
    /// Empty for an order or type without such a list, and for an absent CPU. The
    /// CPU's lists are locked until the iterator is dropped.
    /// Linux counterpart: `zone->per_cpu_pageset->lists[]`.
    pub fn percpu_list(&self, cpu: u16, order: Order, migratetype: Migratetype) -> impl Iterator<Item = Pfn> {
        let exists = migratetype.is_mergeable() && self.has_percpu_list(order);
        let guard = self.percpu.get(usize::from(cpu)).filter(|_| exists).map(|lists| lists.lock());
        let number = PerCpuLists::number(migratetype, order);
        let mut at = guard.as_ref().and_then(|guard| guard.lists[number.0].first());
        core::iter::from_fn(move || {
            let _held = &guard;
            let index = at?;
            at = self.frames.next(index);
            Some(self.frames.pfn(index))
        })
    }

    /// The pages on all of a CPU's lists of this zone; 0 for an absent CPU.
    ///
    /// Units: pages. Linux counterpart: `pcp->count`.
    pub fn percpu_pages(&self, cpu: u16) -> u32 {
        self.percpu.get(usize::from(cpu)).map_or(0, |lists| lists.lock().count)
    }
}
