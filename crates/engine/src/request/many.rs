//! Many blocks of one order at once, in one owner's hands.

use super::exclusive::{Exclusive, Held, MOST_ZONES};
use crate::memory::CpuRequests;
use crate::percpu::PerCpuLists;
use crate::table::sync::Locks;
use crate::table::{FrameWord, Run};
use crate::types::{FreeError, Migratetype, Order, Pfn, Request};
use crate::zone::Zone;

/// Blocks that one hold of the zone lock takes or gives back at most.
const A_HOLD: u32 = 64;

impl<'a, 'm, L: Locks> Exclusive<'a, 'm, L> {
    /// Fills the empty places of `blocks`; returns how many places are filled from the start on.
    ///
    /// The same as [`Exclusive::alloc`] for one empty place after the other until one fails, with
    /// fewer holds of the zone lock.
    pub fn alloc_many(&mut self, request: Request, blocks: &mut [Option<Pfn>]) -> usize {
        let mut filled = 0;
        while let Some(empty) = blocks[filled..].iter().position(Option::is_none) {
            filled += empty;
            filled += self.fill_at_once(request, &mut blocks[filled..]);
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

    /// Fills empty places, as long as nothing can stand in the way; returns how many.
    fn fill_at_once(&mut self, request: Request, places: &mut [Option<Pfn>]) -> usize {
        let Some((held, requests)) = self.held_first(request) else { return 0 };
        let zone = held.zone;
        if zone.has_percpu_list(request.order) {
            return zone.fill_by_list(&mut held.lists, request, places, requests);
        }
        let mut filled = 0;
        while zone.has_plenty(request.order) {
            let now = zone.fill_past_lists(request, &mut places[filled..], requests);
            filled += now;
            if now == 0 {
                break;
            }
        }
        filled
    }

    /// Takes blocks of one order back.
    ///
    /// The same as [`Exclusive::free`] for one after the other, with fewer holds of the zone lock.
    ///
    /// # Errors
    /// See [`FreeError`], with the number of blocks that were taken back before it: the block
    /// at fault and those behind it are as they were.
    pub fn free_many(&mut self, order: Order, blocks: &[Pfn]) -> Result<(), (usize, FreeError)> {
        let mut freed = 0;
        while let Some(&pfn) = blocks.get(freed) {
            if order == Order::ZERO {
                let at_hand = self.free_pages_at_hand(&blocks[freed..]);
                freed += at_hand;
                if at_hand > 0 {
                    continue;
                }
            }
            let zone = self.memory.zone_of(pfn).filter(|zone| zone.frees_plainly(order));
            let (now, done) = match zone {
                Some(zone) => zone.free_past_lists(order, &blocks[freed..]),
                None => (1, self.free(pfn, order)),
            };
            done.map_err(|error| (freed + now - 1, error))?;
            freed += now;
        }
        Ok(())
    }

    /// Puts pages at hand until one has to be looked at; returns how many.
    fn free_pages_at_hand(&mut self, pages: &[Pfn]) -> usize {
        self.held[self.recent % MOST_ZONES].as_mut().map_or(0, |held| held.free_pages_at_hand(pages))
    }

    /// The lists of the zone that a request is for first.
    fn held_first(&mut self, request: Request) -> Option<(&mut Held<'a, 'm, L>, &'a CpuRequests)> {
        let number = self.memory.first_zone(request)?;
        Some((self.held.get_mut(number)?.as_mut()?, self.requests))
    }
}

impl<L: Locks> Held<'_, '_, L> {
    fn free_pages_at_hand(&mut self, pages: &[Pfn]) -> usize {
        let (zone, lists) = (self.zone, &mut *self.lists);
        if !zone.has_plenty(Order::ZERO) {
            return 0;
        }
        let list = &mut lists.lists[lists.freed_type.index()];
        let most = list.room().min(lists.calm_below.saturating_sub(lists.count + 1));
        let mut freed = 0;
        for &pfn in pages.iter().take(most as usize) {
            let Some((index, frame)) = zone.frames.find(pfn) else { break };
            let word = frame.word();
            if !word.is_owned_of(Order::ZERO) || !zone.blocks.is_of(index, lists.freed_type) {
                break;
            }
            frame.set_word(word.given_back());
            list.push_stacked(index);
            freed += 1;
        }
        lists.count += freed;
        lists.note_calm_frees(freed);
        freed as usize
    }
}

impl<L: Locks> Zone<'_, L> {
    /// Fills empty places from lists that the caller holds; returns how many.
    fn fill_by_list(
        &self,
        lists: &mut PerCpuLists<'_>,
        request: Request,
        places: &mut [Option<Pfn>],
        cpu: &CpuRequests,
    ) -> usize {
        let mut filled = 0;
        while self.has_plenty(request.order) {
            filled += self.fill_at_hand(lists, request, &mut places[filled..], cpu);
            let Some(place @ None) = places.get_mut(filled) else { break };
            *place = self.take_by_list(lists, request, cpu);
            if place.is_none() {
                break;
            }
            filled += 1;
        }
        filled
    }

    /// Fills empty places with what lies at hand; returns how many.
    fn fill_at_hand(
        &self,
        lists: &mut PerCpuLists<'_>,
        request: Request,
        places: &mut [Option<Pfn>],
        cpu: &CpuRequests,
    ) -> usize {
        let wanted = request.gfp.migratetype();
        let movable = wanted == Migratetype::Movable;
        let word = FrameWord::allocated(request.order, wanted, movable);
        let list = &mut lists.lists[PerCpuLists::number(wanted, request.order).0];
        let mut filled = 0;
        for place in places.iter_mut().take_while(|place| place.is_none()) {
            let Some(index) = list.pop_stacked() else { break };
            self.frames.hand_over(index, word);
            let is_native = self.blocks.is_of(index, wanted);
            let native = is_native.then(|| self.frames.pfn(index));
            *place = native.or_else(|| Some(self.note_elsewhere(index, movable, cpu)));
            filled += 1;
        }
        lists.count -= filled << request.order.get();
        lists.note_allocs(filled);
        cpu.answered(request.order, filled.into());
        filled as usize
    }

    /// Fills empty places with blocks of an order without per-CPU lists, in one hold of the
    /// zone lock; returns how many.
    fn fill_past_lists(&self, request: Request, places: &mut [Option<Pfn>], cpu: &CpuRequests) -> usize {
        let Some(want) = self.plain_want(request) else { return 0 };
        let empty = places.iter().take(A_HOLD as usize).take_while(|place| place.is_none()).count();
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

    /// Takes back blocks of an order without per-CPU lists in one hold of the zone lock, until
    /// one lies elsewhere or cannot be taken; returns how many were looked at, and whether the
    /// last of them could be.
    fn free_past_lists(&self, order: Order, blocks: &[Pfn]) -> (usize, Result<(), FreeError>) {
        let mut guard = self.lock();
        let mut run: Option<Run> = None;
        let mut done = Ok(());
        let mut looked_at = 0;
        for &pfn in blocks.iter().take(A_HOLD as usize) {
            let Some((index, frame)) = self.frames.find(pfn) else { break };
            let longer = run.and_then(|run| run.with_next(index));
            if longer.is_none()
                && let Some(whole) = run.take()
            {
                guard.free_run(whole, |_, _, _| ());
            }
            // A block that is named twice is free by now: within a run there are no two alike.
            let word = frame.word();
            if !word.is_owned_of(order) {
                if self.frames.contains(index) {
                    looked_at += 1;
                    done = Err(self.why_not_owned(index, word));
                }
                break;
            }
            looked_at += 1;
            run = longer.or(Some(Run::single(index, order)));
        }
        if let Some(run) = run {
            guard.free_run(run, |_, _, _| ());
        }
        guard.state.stats.direct_frees += looked_at as u64 - u64::from(done.is_err());
        (looked_at, done)
    }

    /// Whether blocks of an order go to the free lists one by one, each as a whole.
    fn frees_plainly(&self, order: Order) -> bool {
        let as_a_whole = !self.is_before_hygiene() && order <= self.blocks.order();
        as_a_whole && !self.has_percpu_list(order)
    }
}
