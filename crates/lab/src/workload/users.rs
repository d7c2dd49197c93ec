//! The users of each frame, and the LRU lists.

use freehold::{Order, Pfn};
use freehold_trace::FrameUse;

/// The use of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Use {
    /// Page cache: movable and reclaimable.
    File,
    /// Anonymous memory without swap, memory of a device or driver: movable, not reclaimable.
    Pinned,
    /// Slab objects.
    Slab,
    /// Page tables.
    PageTable,
    /// Kernel stacks, packets, memory of drivers.
    Kernel,
}

impl Use {
    /// Returns the use as in `/proc/kpageflags`.
    pub(super) fn seen(self) -> FrameUse {
        match self {
            Self::File => FrameUse::Movable,
            Self::Pinned => FrameUse::Unevictable,
            Self::Slab => FrameUse::Slab,
            Self::PageTable => FrameUse::PageTable,
            Self::Kernel => FrameUse::Other,
        }
    }
}

/// A handle of a block. It stays valid when pages of the block are moved or reclaimed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Handle(u32);

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Block {
    /// The first frame; [`NONE`] if the pages were reclaimed.
    pfn: u32,
    order: Order,
    used_for: Use,
    list: Option<List>,
    is_referenced: bool,
    newer: u32,
    older: u32,
}

/// A list of page cache by age. Linux counterpart: `enum lru_list`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum List {
    /// `LRU_INACTIVE_FILE`.
    Inactive,
    /// `LRU_ACTIVE_FILE`.
    Active,
}

#[derive(Clone, Copy, Debug)]
struct Ends {
    newest: u32,
    oldest: u32,
    pages: u64,
}

/// Every block in use, by handle and by frame.
#[derive(Debug)]
pub(super) struct Users {
    blocks: Vec<Block>,
    vacant: Vec<u32>,
    first_frame: u64,
    /// The block that starts at each frame.
    by_frame: Vec<u32>,
    lists: [Ends; 2],
    /// The frame after each zone, and the pages of the zone on lists.
    zones: Vec<(u64, u64)>,
}

impl Users {
    /// Returns the users of a machine with these frames, all free.
    pub(super) fn new(frames: std::ops::Range<u64>, zone_ends: Vec<u64>) -> Self {
        let by_frame = vec![NONE; (frames.end - frames.start) as usize];
        let lists = [Ends { newest: NONE, oldest: NONE, pages: 0 }; 2];
        let zones = zone_ends.into_iter().map(|end| (end, 0)).collect();
        Self { blocks: Vec::new(), vacant: Vec::new(), first_frame: frames.start, by_frame, lists, zones }
    }

    /// Adds a block with its use.
    pub(super) fn add(&mut self, pfn: Pfn, order: Order, used_for: Use) -> Handle {
        let block = Block {
            pfn: pfn.0 as u32,
            order,
            used_for,
            list: None,
            is_referenced: false,
            newer: NONE,
            older: NONE,
        };
        let number = if let Some(number) = self.vacant.pop() {
            self.blocks[number as usize] = block;
            number
        } else {
            self.blocks.push(block);
            self.blocks.len() as u32 - 1
        };
        *self.slot(pfn) = number;
        if used_for == Use::File {
            self.put(number, List::Inactive);
        }
        Handle(number)
    }

    /// Removes a block. Returns its first frame and order; `None` if its pages were already reclaimed.
    pub(super) fn remove(&mut self, handle: Handle) -> Option<(Pfn, Order)> {
        let gone = self.take_frame(handle);
        self.vacant.push(handle.0);
        gone
    }

    /// Removes the pages of a block, as reclaim does; its handle stays valid.
    pub(super) fn evict(&mut self, handle: Handle) -> Option<(Pfn, Order)> {
        self.take_frame(handle)
    }

    /// Assigns a new page to a reclaimed block.
    pub(super) fn revive(&mut self, handle: Handle, pfn: Pfn) {
        let block = &mut self.blocks[handle.0 as usize];
        block.pfn = pfn.0 as u32;
        block.order = Order::ZERO;
        block.is_referenced = false;
        *self.slot(pfn) = handle.0;
        self.put(handle.0, List::Inactive);
    }

    /// Returns true if a block has pages.
    pub(super) fn is_present(&self, handle: Handle) -> bool {
        self.blocks[handle.0 as usize].pfn != NONE
    }

    /// Returns the block that starts at a frame, with its order and use.
    pub(super) fn at(&self, pfn: Pfn) -> Option<(Handle, Order, Use)> {
        let at = pfn.0.checked_sub(self.first_frame)?;
        let number = *self.by_frame.get(at as usize).filter(|&&number| number != NONE)?;
        let block = &self.blocks[number as usize];
        Some((Handle(number), block.order, block.used_for))
    }

    /// Records that a block was moved to `to`.
    pub(super) fn moved(&mut self, handle: Handle, to: Pfn) {
        let Block { pfn, order, list, .. } = self.blocks[handle.0 as usize];
        let from = Pfn(pfn.into());
        *self.slot(from) = NONE;
        *self.slot(to) = handle.0;
        self.blocks[handle.0 as usize].pfn = to.0 as u32;
        if list.is_some() {
            *self.in_zone(from) -= order.pages();
            *self.in_zone(to) += order.pages();
        }
    }

    /// Splits a block into single pages, each with a handle of its own.
    pub(super) fn split(&mut self, handle: Handle) -> Vec<Handle> {
        let Block { order, used_for, .. } = self.blocks[handle.0 as usize];
        let first = self.remove(handle).map_or(Pfn(0), |(pfn, _)| pfn);
        (0..order.pages()).map(|page| self.add(first.add(page), Order::ZERO, used_for)).collect()
    }

    /// Marks a page as used. A page used twice moves to the active list.
    ///
    /// Linux counterpart: `folio_mark_accessed`.
    pub(super) fn touch(&mut self, handle: Handle) {
        let block = &mut self.blocks[handle.0 as usize];
        if block.list != Some(List::Inactive) || !block.is_referenced {
            block.is_referenced = true;
            return;
        }
        block.is_referenced = false;
        self.relist(handle, List::Active);
    }

    /// Returns the number of pages on a list.
    pub(super) fn listed(&self, list: List) -> u64 {
        self.lists[list as usize].pages
    }

    /// Returns the number of a zone's pages on lists.
    pub(super) fn listed_in(&self, zone: usize) -> u64 {
        self.zones[zone].1
    }

    /// Returns the oldest page of a list.
    pub(super) fn oldest(&self, list: List) -> Option<Handle> {
        Some(self.lists[list as usize].oldest).filter(|&number| number != NONE).map(Handle)
    }

    /// Returns true if a page was used since the last call for this page.
    pub(super) fn take_referenced(&mut self, handle: Handle) -> bool {
        std::mem::take(&mut self.blocks[handle.0 as usize].is_referenced)
    }

    /// Moves a page to the newest end of a list.
    pub(super) fn relist(&mut self, handle: Handle, list: List) {
        self.unlist(handle.0);
        self.put(handle.0, list);
    }

    /// Returns the first frame of a block.
    pub(super) fn pfn(&self, handle: Handle) -> Pfn {
        Pfn(self.blocks[handle.0 as usize].pfn.into())
    }

    /// Returns the first frame, order and use of every block with pages.
    pub(super) fn present(&self) -> impl Iterator<Item = (Pfn, Order, Use)> + '_ {
        self.by_frame.iter().filter(|&&number| number != NONE).map(|&number| {
            let block = &self.blocks[number as usize];
            (Pfn(block.pfn.into()), block.order, block.used_for)
        })
    }

    fn slot(&mut self, pfn: Pfn) -> &mut u32 {
        &mut self.by_frame[(pfn.0 - self.first_frame) as usize]
    }

    /// Returns the count of pages on lists in the zone of a frame.
    fn in_zone(&mut self, pfn: Pfn) -> &mut u64 {
        let found = self.zones.iter().position(|&(end, _)| pfn.0 < end).unwrap_or(0);
        &mut self.zones[found].1
    }

    fn take_frame(&mut self, handle: Handle) -> Option<(Pfn, Order)> {
        let Block { pfn, order, .. } = self.blocks[handle.0 as usize];
        if pfn == NONE {
            return None;
        }
        let pfn = Pfn(pfn.into());
        *self.slot(pfn) = NONE;
        self.unlist(handle.0);
        self.blocks[handle.0 as usize].pfn = NONE;
        Some((pfn, order))
    }

    fn put(&mut self, number: u32, list: List) {
        let ends = &mut self.lists[list as usize];
        let before = std::mem::replace(&mut ends.newest, number);
        if before == NONE {
            ends.oldest = number;
        }
        let block = &mut self.blocks[number as usize];
        ends.pages += block.order.pages();
        (block.list, block.older, block.newer) = (Some(list), before, NONE);
        let (pfn, pages) = (Pfn(block.pfn.into()), block.order.pages());
        *self.in_zone(pfn) += pages;
        if before != NONE {
            self.blocks[before as usize].newer = number;
        }
    }

    fn unlist(&mut self, number: u32) {
        let Block { pfn, list, newer, older, order, .. } = self.blocks[number as usize];
        let Some(list) = list else { return };
        *self.in_zone(Pfn(pfn.into())) -= order.pages();
        self.blocks[number as usize].list = None;
        let ends = &mut self.lists[list as usize];
        ends.pages -= order.pages();
        if newer == NONE {
            ends.newest = older;
        }
        if older == NONE {
            ends.oldest = newer;
        }
        if newer != NONE {
            self.blocks[newer as usize].older = older;
        }
        if older != NONE {
            self.blocks[older as usize].newer = newer;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_stay_valid_after_moves_and_reclaim() {
        let mut users = Users::new(100..200, vec![130, 200]);
        let page = users.add(Pfn(110), Order::ZERO, Use::File);
        let other = users.add(Pfn(111), Order::ZERO, Use::File);
        users.moved(page, Pfn(150));
        assert_eq!((users.listed_in(0), users.listed_in(1)), (1, 1));
        assert_eq!(users.at(Pfn(110)), None);
        assert_eq!(users.at(Pfn(150)), Some((page, Order::ZERO, Use::File)));
        assert_eq!(users.oldest(List::Inactive), Some(page));
        users.touch(page);
        users.touch(page);
        assert_eq!((users.listed(List::Inactive), users.listed(List::Active)), (1, 1));
        assert_eq!(users.evict(page), Some((Pfn(150), Order::ZERO)));
        assert!(!users.is_present(page) && users.listed(List::Active) == 0);
        users.revive(page, Pfn(120));
        assert_eq!(users.present().count(), 2);
        assert_eq!(users.remove(page), Some((Pfn(120), Order::ZERO)));
        assert_eq!(users.remove(other), Some((Pfn(111), Order::ZERO)));
        assert_eq!(users.oldest(List::Inactive), None);
    }
}
