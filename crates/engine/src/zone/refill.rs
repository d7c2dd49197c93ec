//! Refills: take blocks one after the other under one hold of the zone lock.

use super::guard::ZoneGuard;
use crate::table::{FrameIndex, Run};
use crate::types::{AllocContext, AllocFlags, Migratetype, Platform};

/// The level at which the search for a block starts.
///
/// There is no level for claims. A claimed pageblock fills the lists of the requested type, where the search starts
/// over.
///
/// Linux counterpart: `enum rmqueue_mode`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    /// The lists of the requested type.
    Native,
    /// CMA blocks, for movable requests.
    Cma,
    /// One piece of another type's block.
    Steal,
}

/// A series of allocations under one lock hold, which remembers its level.
///
/// Only the lock holder changes the free lists, so the level that last succeeded is still the right one. The series
/// borrows the guard, so it cannot outlast the hold.
pub(crate) struct Refill<'g, 'z, 'm, P: Platform> {
    guard: &'g mut ZoneGuard<'z, 'm, P>,
    context: AllocContext,
    mode: Mode,
    /// The number of pages taken so far.
    taken: u64,
}

impl<'z, 'm, P: Platform> ZoneGuard<'z, 'm, P> {
    pub(crate) fn refill<'g>(&'g mut self, context: AllocContext) -> Refill<'g, 'z, 'm, P> {
        Refill { guard: self, context, mode: Mode::Native, taken: 0 }
    }

    pub(super) fn take_cma(&mut self, context: AllocContext) -> Option<FrameIndex> {
        if !context.flags.contains(AllocFlags::CMA) {
            return None;
        }
        let found = self.take_smallest(context.order, Migratetype::Cma);
        self.state.stats.cma_fallbacks += u64::from(found.is_some());
        found
    }
}

#[cfg(test)]
impl<'z, 'm, P: Platform> Refill<'_, 'z, 'm, P> {
    /// Returns the guard of the hold, for tests that change the lists within a refill.
    pub(crate) fn guard(&mut self) -> &mut ZoneGuard<'z, 'm, P> {
        self.guard
    }
}

impl<P: Platform> Refill<'_, '_, '_, P> {
    /// Takes the next block. Returns `None` if the zone has no block for this request.
    ///
    /// Linux counterpart: `__rmqueue`.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<FrameIndex> {
        let cma = if self.cma_is_first() { self.guard.take_cma(self.context) } else { None };
        let found = cma.or_else(|| {
            if self.guard.zone.is_before_hygiene() {
                self.guard.take_before_hygiene(self.context)
            } else {
                self.next_by_level()
            }
        })?;
        self.guard.count_taken(Run::single(found, self.context.order), self.context.migratetype);
        self.taken += self.context.order.pages();
        Some(found)
    }

    /// Takes up to `most` next blocks that are adjacent. They are the blocks that calls of [`Self::next`] would take.
    pub(super) fn next_run(&mut self, most: u32) -> Option<Run> {
        let native = self.next_native_run(most);
        native.or_else(|| self.next().map(|index| Run::single(index, self.context.order)))
    }

    /// Takes blocks as [`Self::next_run`] does, but only from the lists of the requested type.
    pub(crate) fn next_native_run(&mut self, most: u32) -> Option<Run> {
        let context = self.context;
        if !self.keeps_type() {
            return None;
        }
        let run = self.guard.take_smallest_run(context.order, context.migratetype, most)?;
        self.guard.count_taken(run, context.migratetype);
        self.taken += u64::from(run.pages());
        Some(run)
    }

    /// Returns true if the next blocks come from the lists of the requested type first. After the first block this
    /// stays true, because the rest of a split block is then the smallest free block.
    fn keeps_type(&self) -> bool {
        let may_use_cma = self.context.flags.contains(AllocFlags::CMA) && self.guard.state.free_cma > 0;
        let level = if self.guard.zone.switches.remembered_mode { self.mode } else { Mode::Native };
        !self.guard.zone.is_before_hygiene() && level == Mode::Native && !may_use_cma
    }

    /// Returns true if CMA blocks are taken first: if they have more than half of the free pages, so that they do not
    /// stay free while the rest of the zone fills up.
    #[inline]
    fn cma_is_first(&self) -> bool {
        let state = &self.guard.state;
        if state.free_cma == 0 {
            return false;
        }
        let free = state.free_pages + self.guard.still_counted(self.taken);
        self.context.flags.contains(AllocFlags::CMA) && state.free_cma > free / 2
    }

    fn next_by_level(&mut self) -> Option<FrameIndex> {
        let context = self.context;
        let start = if self.guard.zone.switches.remembered_mode { self.mode } else { Mode::Native };
        if start == Mode::Native
            && let Some(found) = self.guard.take_smallest(context.order, context.migratetype)
        {
            return Some(found);
        }
        if matches!(start, Mode::Native | Mode::Cma)
            && let Some(found) = self.guard.take_cma(context)
        {
            self.mode = Mode::Cma;
            return Some(found);
        }
        if start != Mode::Steal
            && let Some(found) = self.guard.claim(context)
        {
            self.mode = Mode::Native;
            return Some(found);
        }
        if context.flags.contains(AllocFlags::NOFRAGMENT) {
            return None;
        }
        let found = self.guard.steal(context)?;
        self.mode = Mode::Steal;
        Some(found)
    }
}
