//! Many blocks in one call: in bulk as in Linux, and through an [`Exclusive`] with the results of single calls.
//!
//! Both move as many pages as possible to and from the stack of a CPU's list. For an order without per-CPU lists, one
//! hold of the zone lock serves many blocks.

use super::exclusive::{Exclusive, LockedZone};
use super::reclaim::NoReclaim;
use crate::memory::{CpuRequests, Memory};
use crate::percpu::PerCpuLists;
use crate::table::{FrameIndex, FrameWord, Run};
use crate::types::{AllocContext, AllocFlags, FreeError, Order, Pfn, Platform, Request};
use crate::zone::{Admission, Mark, Zone};

/// The most blocks that one hold of the zone lock takes or frees.
const BLOCKS_A_HOLD: u32 = 64;

impl<P: Platform> Memory<'_, P> {
    /// Fills the empty places of `pages` with single pages. Returns the number of filled places before the
    /// first empty one.
    ///
    /// The order in the request is ignored. A place that already has a page keeps it. If memory is short, the call may
    /// fill only one place.
    /// Linux counterpart: `alloc_pages_bulk`.
    pub fn alloc_bulk(&self, request: Request, pages: &mut [Option<Pfn>]) -> usize {
        let request = Request { order: Order::ZERO, ..request };
        let first_empty = pages.iter().take_while(|place| place.is_some()).count();
        if first_empty == pages.len() {
            return pages.len();
        }
        match self.fill_in_bulk(&request, pages, first_empty) {
            Some(filled) => filled,
            None => match self.alloc(request, NoReclaim) {
                Ok(pfn) => {
                    pages[first_empty] = Some(pfn);
                    first_empty + 1
                }
                Err(_) => first_empty,
            },
        }
    }

    /// Fills empty places under one hold of the lock of a CPU's lists. Returns `None` if it got no page.
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
        let context = AllocContext { order: Order::ZERO, migratetype: request.gfp.migratetype(), flags };
        let mut lists = zone.try_lock_lists(request.cpu)?;
        // Linux counts the pages of a bulk as one allocation, and none of them as a fallback.
        let deliver = |index, word| zone.frames.give(index, word);
        let (mut at, mut taken) = (first_empty, 0);
        let filled = loop {
            let Some(next_empty) = pages[at..].iter().position(Option::is_none) else { break pages.len() };
            at += next_empty;
            let now = fill_fast(&mut lists, *request, &mut pages[at..], deliver);
            (at, taken) = (at + now, taken + now);
            let Some(place @ None) = pages.get_mut(at) else { continue };
            let Some(index) = zone.take_from_lists(&mut lists, context) else { break at };
            *place = Some(deliver(index, FrameWord::requested(context.order, context.migratetype)));
            (at, taken) = (at + 1, taken + 1);
        };
        cpu.count_answered(Order::ZERO, taken as u64);
        (taken > 0).then_some(filled)
    }

    /// Frees single pages under one hold of the lock of the CPU's lists, with the result of single frees one after the
    /// other. Waits until the CPU's [`Exclusive`] is paused or dropped.
    ///
    /// Linux counterpart: `free_unref_folios`.
    ///
    /// # Errors
    /// The number of pages that were freed, and the [`FreeError`] of the next page. That page and those behind it are
    /// unchanged.
    pub fn free_bulk(&self, cpu: u16, pages: &[Pfn]) -> Result<(), (usize, FreeError)> {
        let mut owner = self.exclusive(cpu).ok_or((0, FreeError::NoSuchCpu))?;
        owner.free_batch(Order::ZERO, pages)
    }
}

impl<P: Platform> Exclusive<'_, '_, P> {
    /// Fills the empty places of `blocks`. Returns the number of filled places before the first empty one.
    ///
    /// The results are those of [`Exclusive::alloc`] for one empty place after the other until one request fails, but
    /// with fewer holds of the zone lock.
    pub fn alloc_batch(&mut self, request: Request, blocks: &mut [Option<Pfn>]) -> usize {
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

    /// Fills empty places while the first zone has plenty. Returns the number of places filled.
    fn fill_from_first_zone(&mut self, request: Request, places: &mut [Option<Pfn>]) -> usize {
        let Some((locked, requests)) = self.first_locked(request) else { return 0 };
        let LockedZone { zone, lists } = locked;
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
    /// The results are those of [`Exclusive::free`] for one block after the other, but with fewer holds of the zone
    /// lock.
    ///
    /// # Errors
    /// The number of blocks that were freed, and the [`FreeError`] of the next block. That block and those behind it
    /// are unchanged.
    pub fn free_batch(&mut self, order: Order, blocks: &[Pfn]) -> Result<(), (usize, FreeError)> {
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

    /// Puts blocks on their list until one needs further checks. Returns the number of blocks freed.
    fn free_fast_while_possible(&mut self, order: Order, blocks: &[Pfn]) -> usize {
        let Some(LockedZone { zone, lists }) = self.recent_locked() else { return 0 };
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

/// Fills the empty places at the start from the stack of a list. `deliver` hands each block over. Returns the number of
/// places filled.
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

impl<'m, P: Platform> Zone<'m, P> {
    /// Fills the empty places at the start from lists that the caller has locked, while the zone has plenty. Returns
    /// the number of places filled.
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

    /// Fills the empty places at the start with blocks of an order without per-CPU lists, in one hold of the zone lock.
    /// Returns the number of places filled.
    fn fill_from_free_area(&self, request: Request, places: &mut [Option<Pfn>], cpu: &CpuRequests) -> usize {
        let Some(context) = self.ordinary_context(request) else { return 0 };
        let empty = places.iter().take(BLOCKS_A_HOLD as usize).take_while(|place| place.is_none()).count();
        let mut guard = self.lock();
        let most = (empty as u32).min(self.plenty_of(request.order, &guard.state));
        let mut filled = 0;
        let mut refill = guard.refill(context);
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

    /// Frees blocks of an order without per-CPU lists in one hold of the zone lock, until a block lies in another zone
    /// or cannot be freed. Returns the number of blocks handled, and an error if the last of them could not be freed.
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

    /// Returns true if blocks of an order bypass the per-CPU lists, and adjacent ones may be freed as one run.
    fn frees_to_free_area(&self, order: Order) -> bool {
        self.frees_in_runs(order) && !self.has_percpu_list(order)
    }
}
