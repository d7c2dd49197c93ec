//! An embedder that moves and gives up what is in use, and holds it against what the memory knows.

use std::collections::BTreeMap;

use crate::common::Locks;
use freehold::{Memory, Order, Pfn, Reclaimed, Relocate, ShrinkControl, Shrinker, ZoneType};

/// One block in use.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Held {
    pub(crate) order: Order,
    contents: u64,
    pub(crate) movable: bool,
}

/// An embedder that knows every block in use by its first frame.
#[derive(Default)]
pub(crate) struct Owner {
    pub(crate) held: BTreeMap<u64, Held>,
    pub(crate) contents: u64,
    /// The move that is refused, counted from the next one on.
    pub(crate) refuses: Option<u64>,
    pub(crate) moves: u64,
    /// Whether movable single pages are given up.
    pub(crate) reclaims: bool,
}

impl Owner {
    pub(crate) fn hold(&mut self, pfn: Pfn, order: Order, movable: bool) {
        self.contents += 1;
        let held = Held { order, contents: self.contents, movable };
        assert_eq!(self.held.insert(pfn.0, held), None, "{pfn} was handed out twice");
    }

    pub(crate) fn free(&mut self, memory: &Memory<'_, Locks>, pfn: u64) {
        let held = self.held.remove(&pfn).expect("a held block");
        memory.free(0, Pfn(pfn), held.order).expect("a held block");
    }

    /// Whether the memory knows the same blocks, and no two of them overlap.
    pub(crate) fn agrees_with(&self, memory: &Memory<'_, Locks>, context: &str) {
        let mut behind = 0;
        for (&pfn, held) in &self.held {
            assert!(pfn >= behind, "{context}: blocks overlap at {pfn:#x}");
            behind = pfn + held.order.pages();
            let block = memory.allocated_block(Pfn(pfn)).map(|(order, _)| order);
            assert_eq!(block, Some(held.order), "{context}, at {pfn:#x}");
        }
        let held: u64 = self.held.values().map(|held| held.order.pages()).sum();
        memory.drain_all();
        let free: u64 = memory.zones().iter().map(freehold::Zone::free_pages).sum();
        let all: u64 = memory.zones().iter().map(|zone| zone.end().0 - zone.start().0).sum();
        assert_eq!(held + free, all, "{context}: pages were lost");
    }
}

impl Relocate for Owner {
    fn is_movable(&mut self, pfn: Pfn, order: Order) -> bool {
        let held = self.held.get(&pfn.0);
        assert!(held.is_none_or(|held| held.order == order));
        held.is_some_and(|held| held.movable)
    }

    fn relocate(&mut self, from: Pfn, to: Pfn, order: Order) -> bool {
        self.moves += 1;
        if self.refuses == Some(self.moves) {
            return false;
        }
        let held = self.held.remove(&from.0).expect("a held block");
        assert_eq!((held.order, held.movable), (order, true));
        assert_eq!(self.held.insert(to.0, held), None, "{to} is in use");
        true
    }
}

impl Shrinker<Locks> for Owner {
    fn shrink(&mut self, memory: &Memory<'_, Locks>, control: ShrinkControl) -> Reclaimed {
        let pages = self.held.iter().filter(|(_, held)| held.movable && held.order == Order::ZERO);
        let most = if self.reclaims { control.wanted as usize } else { 0 };
        let found: Vec<u64> = pages.map(|(&pfn, _)| pfn).take(most).collect();
        for &pfn in &found {
            self.free(memory, pfn);
        }
        Reclaimed { scanned: control.wanted, reclaimed: found.len() as u64 }
    }

    fn reclaimable_pages(&mut self, _: u16, _: ZoneType) -> u64 {
        let single = |held: &&Held| held.movable && held.order == Order::ZERO;
        if self.reclaims { self.held.values().filter(single).count() as u64 } else { 0 }
    }
}
