//! Reads the lists of a zone block by block.

use crate::types::{Migratetype, Order, PageblockUse, Pfn, Platform};
use crate::zone::Zone;

impl<P: Platform> Zone<'_, P> {
    /// Returns the first frames of the blocks on a free list, from head to tail. Requests take blocks from the head.
    ///
    /// The zone lock is held until the iterator is dropped. The same thread must not call the zone meanwhile.
    /// Linux counterpart: `zone->free_area[order].free_list[migratetype]`.
    pub fn free_list(&self, order: Order, migratetype: Migratetype) -> impl Iterator<Item = Pfn> {
        let guard = self.lock();
        let mut at = guard.first(order, migratetype);
        core::iter::from_fn(move || {
            let _locked = &guard;
            let index = at?;
            at = self.frames.next(index);
            Some(self.frames.pfn(index))
        })
    }

    /// Returns the first frames of the blocks on one of a CPU's lists, from head to tail. Requests take blocks from the
    /// head.
    ///
    /// The iterator is empty for an order or type without such a list, and for an absent CPU. Types other than Movable
    /// share one list of huge pages. The iterator holds the lock of the CPU's lists until it is dropped.
    /// Linux counterpart: `zone->per_cpu_pageset->lists[]`.
    pub fn percpu_list(&self, cpu: u16, order: Order, migratetype: Migratetype) -> impl Iterator<Item = Pfn> {
        self.percpu_blocks(cpu, order, migratetype).map(|(pfn, _)| pfn)
    }

    /// Returns the blocks of [`Zone::percpu_list`], each with the type under which the block was freed or found.
    ///
    /// In eras without hygiene, a drain puts the block on the free list of that type.
    /// Linux counterpart: `get_pcppage_migratetype`.
    pub fn percpu_blocks(
        &self,
        cpu: u16,
        order: Order,
        migratetype: Migratetype,
    ) -> impl Iterator<Item = (Pfn, Migratetype)> {
        let exists = migratetype.is_mergeable() && self.has_percpu_list(order);
        let guard = exists.then(|| self.lock_lists(cpu)).flatten();
        let mut cursor = guard.as_ref().map(|lists| {
            let list = lists.list(lists.number(migratetype, order));
            list.cursor(&self.frames)
        });
        core::iter::from_fn(move || {
            let lists = guard.as_ref()?;
            let list = lists.list(lists.number(migratetype, order));
            let index = list.next(&self.frames, cursor.as_mut()?)?;
            Some((self.frames.pfn(index), self.frames.word(index).migratetype()))
        })
    }

    /// Returns the two counts of the pageblock around a frame: `free`, the pages in free blocks smaller than the
    /// pageblock, and `movable`, the pages that left the free lists for movable requests. The other fields are 0.
    /// Returns `None` outside the zone, and without [`crate::Switches::claims_by_counts`].
    pub fn counted_use(&self, pfn: Pfn) -> Option<PageblockUse> {
        self.frames.index(pfn).and_then(|index| self.blocks.counted_use(index))
    }
}
