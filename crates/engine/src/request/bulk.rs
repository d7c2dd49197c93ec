//! Many single pages at once.

use crate::memory::Memory;
use crate::table::FrameWord;
use crate::table::sync::Locks;
use crate::types::{AllocFlags, FreeError, Migratetype, Order, Pfn, Request, Want};
use crate::zone::{Admission, Mark};

impl<L: Locks> Memory<'_, L> {
    /// Fills the empty places of `pages` with single pages; returns how many places are filled
    /// from the start on.
    ///
    /// The request's order is not looked at. Places that hold a page already are left alone.
    /// Where memory is short, only one page may come.
    /// Linux counterpart: `alloc_pages_bulk`.
    pub fn alloc_bulk(&self, request: Request, pages: &mut [Option<Pfn>]) -> usize {
        let request = Request { order: Order::ZERO, ..request };
        let first_empty = pages.iter().take_while(|place| place.is_some()).count();
        if first_empty == pages.len() {
            return pages.len();
        }
        match self.bulk_from_lists(&request, pages, first_empty) {
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

    /// Takes back single pages under one hold of the CPU's lists; the same as freeing them
    /// one after the other.
    ///
    /// Linux counterpart: `free_unref_folios`.
    ///
    /// # Errors
    /// See [`FreeError`], with the number of pages that were taken back before it: the page
    /// at fault and those behind it are as they were.
    pub fn free_bulk(&self, cpu: u16, pages: &[Pfn]) -> Result<(), (usize, FreeError)> {
        let mut owner = self.exclusive(cpu).ok_or((0, FreeError::NoSuchCpu))?;
        for (number, &pfn) in pages.iter().enumerate() {
            if owner.free_owned_at_hand(pfn).is_none() {
                owner.free_owned(pfn).map_err(|error| (number, error))?;
            }
        }
        Ok(())
    }

    /// Takes all pages under one hold of a CPU's lists; `None` if not even one came.
    fn bulk_from_lists(
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
        let migratetype = request.gfp.migratetype();
        let want = Want { order: Order::ZERO, migratetype, flags };
        let movable = migratetype == Migratetype::Movable;
        let mut lists = zone.percpu[usize::from(request.cpu)].try_lock()?;
        let mut filled = first_empty;
        let mut found_any = false;
        while filled < pages.len() {
            if pages[filled].is_none() {
                let at_hand = lists.pop_at_hand(migratetype, Order::ZERO);
                let Some(index) = at_hand.or_else(|| zone.take_from_lists(&mut lists, want)) else { break };
                zone.frames.hand_over(index, FrameWord::allocated(Order::ZERO, migratetype, movable));
                pages[filled] = Some(zone.frames.pfn(index));
                cpu.answered(Order::ZERO, 1);
                found_any = true;
            }
            filled += 1;
        }
        found_any.then_some(filled)
    }
}
