//! Frees: the fast path to the stack of a CPU's list, and the checked path to a CPU's list or the free lists.

use crate::memory::Memory;
use crate::table::{FrameIndex, FrameKind, FrameWord};
use crate::types::{FreeError, Migratetype, Order, Pfn, Platform};
use crate::zone::Zone;

impl<'m, P: Platform> Memory<'m, P> {
    /// Frees a block on a CPU.
    ///
    /// Linux counterpart: `__free_pages` of the last reference.
    ///
    /// # Errors
    /// See [`FreeError`]. After an error nothing has changed.
    #[inline]
    pub fn free(&self, cpu: u16, pfn: Pfn, order: Order) -> Result<(), FreeError> {
        if order > Order::ZERO {
            return self.free_checked(cpu, pfn, order);
        }
        match self.free_fast(cpu, pfn) {
            Some(()) => Ok(()),
            None => self.free_page(cpu, pfn),
        }
    }

    /// Puts a single page on the stack of its list. Returns `None` and changes nothing if the free needs further
    /// checks.
    #[expect(clippy::inline_always, reason = "a call would cost as much as half of what it does")]
    #[inline(always)]
    fn free_fast(&self, cpu: u16, pfn: Pfn) -> Option<()> {
        let in_run = |zone: &'m Zone<'m, P>| Some((zone, zone.frames.find_in_run(pfn)?));
        let (zone, page) = self.zones.iter().find_map(in_run)?;
        if !zone.has_plenty(Order::ZERO) {
            return None;
        }
        let mut lists = zone.try_lock_lists(cpu)?;
        zone.free_page_fast(&mut lists, page)
    }

    /// Frees a single page after the fast path has declined. Behind a hole between sections, the page may still need no
    /// further checks.
    #[cold]
    fn free_page(&self, cpu: u16, pfn: Pfn) -> Result<(), FreeError> {
        if self.has_holes && self.free_fast_behind_hole(cpu, pfn).is_some() {
            return Ok(());
        }
        self.free_checked(cpu, pfn, Order::ZERO)
    }

    /// Puts a single page on the stack of its list as [`Self::free_fast`] does, also behind a hole between sections.
    #[inline]
    fn free_fast_behind_hole(&self, cpu: u16, pfn: Pfn) -> Option<()> {
        let (zone, page) = self.zones.iter().find_map(|zone| Some((zone, zone.frames.find(pfn)?)))?;
        if !zone.has_plenty(Order::ZERO) {
            return None;
        }
        let mut lists = zone.try_lock_lists(cpu)?;
        zone.free_page_fast(&mut lists, page)
    }

    #[cold]
    fn free_checked(&self, cpu: u16, pfn: Pfn, order: Order) -> Result<(), FreeError> {
        if cpu >= self.cpus() {
            return Err(FreeError::NoSuchCpu);
        }
        let (zone, index) = self.owner(pfn)?;
        zone.free_owned(cpu, index, order)
    }

    /// Splits an allocated block of order `from` into blocks of order `to`, which are freed one by one.
    ///
    /// Linux counterpart: `split_page`.
    ///
    /// # Errors
    /// As for [`Memory::free`]; also [`FreeError::WrongOrder`] if `to` is larger than `from`.
    pub fn split(&self, pfn: Pfn, from: Order, to: Order) -> Result<(), FreeError> {
        let (zone, index) = self.owner(pfn)?;
        if to > from {
            return Err(FreeError::WrongOrder { allocated: from });
        }
        let word = zone.reclaim_ownership(index, from)?;
        let piece = FrameWord::allocated(to, word.migratetype(), word.is_movable());
        for number in (0..1_u32 << (from.get() - to.get())).rev() {
            zone.frames.hand_over(index.offset(number << to.get()), piece);
        }
        Ok(())
    }

    /// Returns the order and requested type of the allocated block that starts at a frame; `None` if no such block
    /// does.
    pub fn allocated_block(&self, pfn: Pfn) -> Option<(Order, Migratetype)> {
        let (zone, index) = self.owner(pfn).ok()?;
        let word = zone.frames.word(index);
        (word.kind() == FrameKind::Allocated).then(|| (word.order(), word.migratetype()))
    }

    fn owner(&self, pfn: Pfn) -> Result<(&'m Zone<'m, P>, FrameIndex), FreeError> {
        let in_run = |zone: &'m Zone<'m, P>| Some((zone, zone.frames.index_in_run(pfn)?));
        match self.zones.iter().find_map(in_run) {
            Some(owner) => Ok(owner),
            None => self.owner_by_section(pfn),
        }
    }

    #[cold]
    fn owner_by_section(&self, pfn: Pfn) -> Result<(&'m Zone<'m, P>, FrameIndex), FreeError> {
        let of_zone = |zone: &'m Zone<'m, P>| Some((zone, zone.frames.index(pfn)?));
        self.zones.iter().find_map(of_zone).ok_or(FreeError::OutsideZones)
    }

    /// Lowers `high` of a CPU's lists in every zone, and drains the pages above it. A CPU of Linux does so once a
    /// second. Returns true if there was work, or a later call will have work. Waits until the CPU's
    /// [`crate::Exclusive`] is paused or dropped.
    ///
    /// Linux counterpart: `refresh_cpu_vm_stats`.
    pub fn refresh(&self, cpu: u16) -> bool {
        let mut busy = false;
        for zone in self.zones {
            busy |= zone.refresh(cpu);
        }
        busy
    }

    /// Drains the lists of every CPU that have no owner, in every zone.
    pub(super) fn drain_for_request(&self) {
        for cpu in 0..self.cpus() {
            for zone in self.zones {
                let lock = || zone.lock_unowned_lists(cpu, &self.owners);
                if let Some(lists) = lock() {
                    zone.drain_locked(lists, &lock);
                }
            }
        }
    }

    /// Drains the lists of every CPU in every zone. Waits until every [`crate::Exclusive`] is paused or dropped.
    ///
    /// Linux counterpart: `drain_all_pages`.
    pub fn drain_all(&self) {
        for cpu in 0..self.cpus() {
            self.zones.iter().for_each(|zone| zone.drain_cpu(cpu));
        }
    }
}
