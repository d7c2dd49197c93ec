//! Full verification of every numbered invariant.

use core::fmt;

use crate::memory::Memory;
use crate::percpu::PerCpuLists;
use crate::table::{BlockList, FrameIndex, FrameKind};
use crate::types::{Migratetype, Order, Pfn, Platform};
use crate::zone::{Zone, ZoneGuard};

/// A violated invariant: its number in the documentation of [`Zone`], and a frame where it is violated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Broken {
    /// The number of the invariant.
    pub invariant: u8,
    /// A frame at which the invariant is violated.
    pub at: Pfn,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invariant {} is broken at {:?}", self.invariant, self.at)
    }
}

impl core::error::Error for Broken {}

impl<P: Platform> Memory<'_, P> {
    /// Verifies every invariant of every zone. No other caller may use the memory meanwhile.
    ///
    /// # Errors
    /// The first violated invariant.
    pub fn check(&self) -> Result<(), Broken> {
        self.zones.iter().try_for_each(Zone::check)
    }
}

impl<P: Platform> Zone<'_, P> {
    /// Verifies every numbered invariant. No other caller may use the zone meanwhile.
    ///
    /// # Errors
    /// The first violated invariant.
    pub fn check(&self) -> Result<(), Broken> {
        let mut percpu_blocks = 0;
        for lists in self.percpu {
            percpu_blocks += self.check_percpu(&lists.lock())?;
        }
        let guard = self.lock();
        let free_blocks = self.check_lists(&guard)?;
        self.check_frames(free_blocks, percpu_blocks)?;
        self.check_uses()
    }

    fn broken(&self, invariant: u8, at: Option<FrameIndex>) -> Broken {
        Broken { invariant, at: self.frames.pfn(at.unwrap_or(self.frames.start())) }
    }

    /// Verifies the links and blocks of one list. Returns the number of blocks on it.
    fn check_list(
        &self,
        list: &BlockList,
        mut block_fits: impl FnMut(FrameIndex) -> bool,
    ) -> Result<u64, Broken> {
        let mut blocks = 0;
        let mut before = None;
        let most = u64::from(self.frames.end().0 - self.frames.start().0);
        for index in list.iter(&self.frames) {
            blocks += 1;
            if self.frames.previous(index) != before || blocks > most {
                return Err(self.broken(2, Some(index)));
            }
            if !block_fits(index) {
                return Err(self.broken(1, Some(index)));
            }
            before = Some(index);
        }
        if list.last() == before { Ok(blocks) } else { Err(self.broken(2, before)) }
    }

    fn check_percpu(&self, lists: &PerCpuLists<'_>) -> Result<u64, Broken> {
        let (mut blocks, mut pages) = (0, 0);
        for list in lists.iter() {
            self.check_list(list.links(), |_| true)?;
            for index in list.iter(&self.frames) {
                let word = self.frames.word(index);
                if word.kind() != FrameKind::PerCpu {
                    return Err(self.broken(1, Some(index)));
                }
                blocks += 1;
                pages += word.order().pages();
            }
        }
        if pages == u64::from(lists.count()) { Ok(blocks) } else { Err(self.broken(9, None)) }
    }

    fn check_lists(&self, guard: &ZoneGuard<'_, '_, P>) -> Result<u64, Broken> {
        let (mut blocks, mut pages, mut cma, mut highatomic) = (0, 0, 0, 0);
        for order in Order::ZERO.up_to(self.max_order) {
            let mut of_order = 0;
            for kind in Migratetype::ALL {
                let list = guard.state.lists.get(order, kind);
                let of_kind = self.check_list(list, |index| {
                    let word = self.frames.word(index);
                    word.is_free_of(order) && word.migratetype() == kind
                })?;
                let miscounted = self.switches.counts && self.counts.of_type(order, kind) != of_kind;
                if miscounted || self.list_has_block(order, kind) != (of_kind > 0) {
                    return Err(self.broken(6, list.first()));
                }
                of_order += of_kind;
                match kind {
                    Migratetype::Isolate => continue,
                    Migratetype::Cma => cma += of_kind << order.get(),
                    Migratetype::HighAtomic => highatomic += of_kind << order.get(),
                    _ => {}
                }
                pages += of_kind << order.get();
            }
            if self.counts.total(order) != of_order {
                return Err(self.broken(5, None));
            }
            blocks += of_order;
        }
        let state = &guard.state;
        if self.switches.hygiene && (state.stats.hygiene_violations, state.stats.foreign_leaves) != (0, 0) {
            return Err(self.broken(7, None));
        }
        let sums_agree = self.numbers_may_drift(state) || (state.free_pages, state.free_cma) == (pages, cma);
        if !sums_agree || state.free_highatomic != highatomic {
            return Err(self.broken(8, None));
        }
        Ok(blocks)
    }

    /// Verifies all frames, block by block.
    fn check_frames(&self, mut free_blocks: u64, mut percpu_blocks: u64) -> Result<(), Broken> {
        let end = self.frames.end();
        let mut at = self.frames.start();
        while at < end {
            let word = self.frames.word(at);
            match word.kind() {
                FrameKind::Free => {
                    free_blocks = free_blocks.checked_sub(1).ok_or(self.broken(1, Some(at)))?;
                    self.check_free_block(at, word.order(), word.migratetype())?;
                }
                FrameKind::PerCpu => {
                    percpu_blocks = percpu_blocks.checked_sub(1).ok_or(self.broken(1, Some(at)))?;
                }
                FrameKind::Tail | FrameKind::InTransit => return Err(self.broken(10, Some(at))),
                FrameKind::Absent | FrameKind::Reserved | FrameKind::Allocated => {}
            }
            let next = at.offset(1 << word.order().get());
            if next > end || !at.is_aligned(word.order()) {
                return Err(self.broken(3, Some(at)));
            }
            let tail =
                (at.0 + 1..next.0).find(|&tail| self.frames.word(FrameIndex(tail)).kind() != FrameKind::Tail);
            if let Some(tail) = tail {
                return Err(self.broken(10, Some(FrameIndex(tail))));
            }
            let pfn = self.frames.pfn(at);
            if self.frames.range(pfn, word.order().pages()) != Some(at..next) {
                return Err(Broken { invariant: 12, at: pfn });
            }
            at = next;
        }
        if free_blocks == 0 && percpu_blocks == 0 { Ok(()) } else { Err(self.broken(1, None)) }
    }

    /// Verifies the counts of all pageblocks, if the era keeps them.
    fn check_uses(&self) -> Result<(), Broken> {
        for (start, end) in self.pageblock_ends() {
            let Some(counted) = self.blocks.counted_use(start) else { return Ok(()) };
            let whole = self.frames.word(self.frames.block_head(start));
            let whole = whole.kind() == FrameKind::Free && whole.order() >= self.blocks.order();
            let free_pages = |at| match self.frames.word(FrameIndex(at)) {
                word if word.kind() == FrameKind::Free && !whole => word.order().pages() as u32,
                _ => 0,
            };
            let free: u32 = (start.0..end.0).map(free_pages).sum();
            let most = if whole { 0 } else { self.blocks.pages() - free };
            if counted.free != free || counted.movable > most {
                return Err(self.broken(11, Some(start)));
            }
        }
        Ok(())
    }

    fn check_free_block(&self, at: FrameIndex, order: Order, listed: Migratetype) -> Result<(), Broken> {
        let pageblocks = 1_u32 << order.get().saturating_sub(self.blocks.order().get());
        let mut starts = (0..pageblocks).map(|number| at.offset(number << self.blocks.order().get()));
        if !starts.all(|start| self.may_be_listed(self.frames.pfn(start), listed)) {
            return Err(self.broken(7, Some(at)));
        }
        let buddy = at.buddy(order);
        let both_free = order < self.blocks.order()
            && self.frames.contains(buddy)
            && self.frames.word(buddy).is_free_of(order);
        if both_free {
            return Err(self.broken(4, Some(at)));
        }
        Ok(())
    }
}
