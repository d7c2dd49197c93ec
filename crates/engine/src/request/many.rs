//! Many blocks in one call: in bulk as Linux has it, and through an owner as single calls one after the
//! other.
//!
//! Both move as many pages as possible to and from the stack of a CPU's list. For an order without per-CPU
//! lists, one hold of the zone lock serves many blocks.

use super::exclusive::{Exclusive, Held};
use crate::memory::{CpuRequests, Memory};
use crate::percpu::PerCpuLists;
use crate::table::sync::Locks;
use crate::table::{FrameIndex, FrameWord, Run};
use crate::types::{AllocFlags, FreeError, Order, Pfn, Request, Want};
use crate::zone::{Admission, Mark, Zone};

/// The most blocks that one hold of the zone lock takes or gives back.
const BLOCKS_A_HOLD: u32 = 64;

impl<L: Locks> Memory<'_, L> {
    /// Fills the empty places of `pages` with single pages. Returns the number of filled places before the
    /// first empty one.
    ///
    /// The request's order is ignored, and a place that holds a page keeps it. Where memory is short, only
    /// one page may come.
    /// Linux counterpart: `alloc_pages_bulk`.
    pub fn alloc_bulk(&self, request: Request, pages: &mut [Option<Pfn>]) -> usize {
        let request = Request { order: Order::ZERO, ..request };
        let first_empty = pages.iter().take_while(|place| place.is_some()).count();
        if first_empty == pages.len() {
            return pages.len();
        }
        match self.fill_in_bulk(&request, pages, first_empty) {
            Some(filled) => filled,
            None => match self.alloc(request) {
                Ok(pfn) => {
                    pages[first_empty] = Some(pfn);
                    first_empty + 1
                }
                Err(_) => first_empty,
            },
        }
    }

    /// Fills empty places under one hold of a CPU's lists. Returns `None` if no page came.
    fn fill_in_bulk(
        &self,
        request: &Request,
        pages: &mut [Option<Pfn>],
        first_empty: usize,
    ) -> Option<usize> {
        if pages.len() - first_empty == 1 {
            return None;
        }
        let cpu = self.requests.get(usize::from(request.cpu))?;
        let flags = AllocFlags::cma(request.gfp);
        let preferred = self.zonelist(request).next()?;
        let wanted = if self.switches.bulk_mark_by_missing { pages.len() - first_empty } else { pages.len() };
        let admission =
            Admission { order: Order::ZERO, mark: Mark::Low, highest_zone: preferred.kind as usize, flags };
        let zone = self
            .zonelist(request)
            .take_while(|zone| zone.node == preferred.node)
            .find(|zone| zone.admits_at(zone.mark(Mark::Low) + wanted as u64, admission))?;
        let want = Want { order: Order::ZERO, migratetype: request.gfp.migratetype(), flags };
        let mut lists = zone.try_lock_lists(request.cpu)?;
        // Linux counts the pages of a bulk as one allocation, and none as fallen back.
        let deliver = |index, word| zone.frames.give(index, word);
        let (mut at, mut taken) = (first_empty, 0);
        let filled = loop {
            let Some(next_empty) = pages[at..].iter().position(Option::is_none) else { break pages.len() };
            at += next_empty;
            let now = fill_fast(&mut lists, *request, &mut pages[at..], deliver);
            (at, taken) = (at + now, taken + now);
            let Some(place @ None) = pages.get_mut(at) else { continue };
            let Some(index) = zone.take_from_lists(&mut lists, want) else { break at };
            *place = Some(deliver(index, FrameWord::requested(want.order, want.migratetype)));
            (at, taken) = (at + 1, taken + 1);
        };
        cpu.count_answered(Order::ZERO, taken as u64);
        (taken > 0).then_some(filled)
    }

    /// Frees single pages under one hold of the CPU's lists, as single frees one after the other do. Waits for
    /// the CPU's [`Exclusive`] until it pauses or ends.
    ///
    /// Linux counterpart: `free_unref_folios`.
    ///
    /// # Errors
    /// See [`FreeError`], with the number of pages that were taken back before it: the page
    /// at fault and those behind it are as they were.
    pub fn free_bulk(&self, cpu: u16, pages: &[Pfn]) -> Result<(), (usize, FreeError)> {
        let mut owner = self.exclusive(cpu).ok_or((0, FreeError::NoSuchCpu))?;
        owner.free_many(Order::ZERO, pages)
    }
}

impl<L: Locks> Exclusive<'_, '_, L> {
    /// Fills the empty places of `blocks`. Returns the number of filled places before the first empty one.
    ///
    /// The answers are those of [`Exclusive::alloc`] for one empty place after the other until one fails,
    /// with fewer holds of the zone lock.
    pub fn alloc_many(&mut self, request: Request, blocks: &mut [Option<Pfn>]) -> usize {
        let mut filled = 0;
        while let Some(next_empty) = blocks[filled..].iter().position(Option::is_none) {
            filled += next_empty;
            filled += self.fill_from_first_zone(request, &mut blocks[filled..]);
            match blocks.get_mut(filled) {
                Some(place @ None) => match self.alloc(request) {
                    Ok(pfn) => *place = Some(pfn),
                    Err(_) => return filled,
                },
                Some(Some(_)) => {}
                None => break,
            }
        }
        blocks.len()
    }

    /// Fills empty places while the first zone has plenty. Returns how many.
    fn fill_from_first_zone(&mut self, request: Request, places: &mut [Option<Pfn>]) -> usize {
        let Some((held, requests)) = self.held_first(request) else { return 0 };
        let Held { zone, lists } = held;
        if zone.has_percpu_list(request.order) {
            return zone.fill_from_lists(lists, request, places, requests);
        }
        let mut filled = 0;
        while zone.has_plenty(request.order) {
            let now = zone.fill_from_free_area(request, &mut places[filled..], requests);
            filled += now;
            if now == 0 {
                break;
            }
        }
        filled
    }

    /// Frees blocks of one order.
    ///
    /// The answers are those of [`Exclusive::free`] for one block after the other, with fewer holds of the
    /// zone lock.
    ///
    /// # Errors
    /// See [`FreeError`], with the number of blocks that were taken back before it: the block
    /// at fault and those behind it are as they were.
    pub fn free_many(&mut self, order: Order, blocks: &[Pfn]) -> Result<(), (usize, FreeError)> {
        let mut freed = 0;
        while let Some(&pfn) = blocks.get(freed) {
            let now = self.free_fast_while_possible(order, &blocks[freed..]);
            freed += now;
            if now > 0 {
                continue;
            }
            let zone = self.memory.zone_of(pfn).filter(|zone| zone.frees_to_free_area(order));
            let (now, done) = match zone {
                Some(zone) => zone.free_to_free_area(order, &blocks[freed..]),
                None => (1, self.free_checked(pfn, order)),
            };
            done.map_err(|error| (freed + now - 1, error))?;
            freed += now;
        }
        Ok(())
    }

    /// Puts blocks on their list until one needs a decision. Returns how many.
    fn free_fast_while_possible(&mut self, order: Order, blocks: &[Pfn]) -> usize {
        let Some(Held { zone, lists }) = self.held_recent() else { return 0 };
        if order > zone.listed || !zone.has_plenty(Order::ZERO) {
            return 0;
        }
        let found = blocks.iter().map_while(|&pfn| zone.frames.find(pfn));
        let freed = if order == Order::ZERO {
            zone.free_pages_fast(lists, found)
        } else {
            zone.free_blocks_fast(lists, order, found)
        };
        freed as usize
    }
}

/// Fills the empty places at the start from the stack of a list. `deliver` hands each block over. Returns how
/// many.
fn fill_fast(
    lists: &mut PerCpuLists<'_>,
    request: Request,
    places: &mut [Option<Pfn>],
    deliver: impl Fn(FrameIndex, FrameWord) -> Pfn,
) -> usize {
    let wanted = request.gfp.migratetype();
    let word = FrameWord::requested(request.order, wanted);
    let empty = places.iter_mut().take_while(|place| place.is_none());
    lists.take_each_fast(wanted, request.order, empty, |place, index| {
        *place = Some(deliver(index, word));
    }) as usize
}

impl<'m, L: Locks> Zone<'m, L> {
    /// Fills the empty places at the start from lists that the caller holds, while the zone has plenty.
    /// Returns how many.
    #[inline(never)]
    fn fill_from_lists(
        &self,
        lists: &mut PerCpuLists<'m>,
        request: Request,
        places: &mut [Option<Pfn>],
        cpu: &CpuRequests,
    ) -> usize {
        let wanted = request.gfp.migratetype();
        let deliver = |index, word| self.deliver(index, word, wanted, cpu);
        let mut filled = 0;
        while self.has_plenty(request.order) {
            let now = fill_fast(lists, request, &mut places[filled..], deliver);
            lists.note_allocs(now as u32);
            cpu.count_answered(request.order, now as u64);
            filled += now;
            let Some(place @ None) = places.get_mut(filled) else { break };
            *place = self.alloc_from_lists(lists, request, cpu);
            if place.is_none() {
                break;
            }
            filled += 1;
        }
        filled
    }

    /// Fills the empty places at the start with blocks of an order without per-CPU lists, in one hold of
    /// the zone lock. Returns how many.
    fn fill_from_free_area(&self, request: Request, places: &mut [Option<Pfn>], cpu: &CpuRequests) -> usize {
        let Some(want) = self.ordinary_want(request) else { return 0 };
        let empty = places.iter().take(BLOCKS_A_HOLD as usize).take_while(|place| place.is_none()).count();
        let mut guard = self.lock();
        let most = (empty as u32).min(self.plenty_of(request.order, &guard.state));
        let mut filled = 0;
        let mut refill = guard.refill(want);
        while filled < most
            && let Some(run) = refill.next_native_run(most - filled)
        {
            for index in run.iter() {
                places[filled as usize] = Some(self.hand_out(index, request, cpu));
                filled += 1;
            }
        }
        guard.state.stats.direct_allocs += u64::from(filled);
        filled as usize
    }

    /// Frees blocks of an order without per-CPU lists in one hold of the zone lock, until a block lies in
    /// another zone or cannot be freed. Returns the number of blocks looked at, and an error if the last
    /// of them could not be freed.
    fn free_to_free_area(&self, order: Order, blocks: &[Pfn]) -> (usize, Result<(), FreeError>) {
        let mut guard = self.lock();
        let mut run: Option<Run> = None;
        let mut done = Ok(());
        let mut looked_at = 0;
        for &pfn in blocks.iter().take(BLOCKS_A_HOLD as usize) {
            let Some(index) = self.frames.index(pfn) else { break };
            looked_at += 1;
            if let Err(error) = self.reclaim_ownership(index, order) {
                done = Err(error);
                break;
            }
            let longer = run.and_then(|run| run.with_next(index));
            if longer.is_none()
                && let Some(whole) = run
            {
                guard.free_run(whole, |_, _, _| ());
            }
            run = longer.or(Some(Run::single(index, order)));
        }
        if let Some(run) = run {
            guard.free_run(run, |_, _, _| ());
        }
        guard.state.stats.direct_frees += looked_at as u64 - u64::from(done.is_err());
        (looked_at, done)
    }

    /// Returns true if blocks of an order bypass the per-CPU lists and may be freed in runs.
    fn frees_to_free_area(&self, order: Order) -> bool {
        self.frees_in_runs(order) && !self.has_percpu_list(order)
    }
}
