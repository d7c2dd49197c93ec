//! An embedder that moves and reclaims its blocks, and compares them with the state of the memory.

use std::collections::BTreeMap;

use crate::common::Host;
use freehold::{Memory, Order, Pfn, Reclaimed, Relocate, ShrinkControl, Shrinker, ZoneType};

/// One block in use.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct InUse {
    pub(crate) order: Order,
    contents: u64,
    pub(crate) movable: bool,
}

/// An embedder that knows every block in use by its first frame.
#[derive(Default)]
pub(crate) struct Owner {
    pub(crate) in_use: BTreeMap<u64, InUse>,
    pub(crate) contents: u64,
    /// The number of the move that fails, counted from 1.
    pub(crate) refuses: Option<u64>,
    pub(crate) moves: u64,
    /// True if movable single pages can be reclaimed.
    pub(crate) reclaims: bool,
}

impl Owner {
    pub(crate) fn hold(&mut self, pfn: Pfn, order: Order, movable: bool) {
        self.contents += 1;
        let in_use = InUse { order, contents: self.contents, movable };
        assert_eq!(self.in_use.insert(pfn.0, in_use), None, "{pfn} was handed out twice");
    }

    pub(crate) fn free(&mut self, memory: &Memory<'_, Host>, pfn: u64) {
        let in_use = self.in_use.remove(&pfn).expect("a block in use");
        memory.free(0, Pfn(pfn), in_use.order).expect("a block in use");
    }

    /// Asserts that the memory has the same blocks, and that no two of them overlap.
    pub(crate) fn agrees_with(&self, memory: &Memory<'_, Host>, context: &str) {
        let mut behind = 0;
        for (&pfn, in_use) in &self.in_use {
            assert!(pfn >= behind, "{context}: blocks overlap at {pfn:#x}");
            behind = pfn + in_use.order.pages();
            let block = memory.allocated_block(Pfn(pfn)).map(|(order, _)| order);
            assert_eq!(block, Some(in_use.order), "{context}, at {pfn:#x}");
        }
        let in_use: u64 = self.in_use.values().map(|in_use| in_use.order.pages()).sum();
        memory.drain_all();
        let free: u64 = memory.zones().iter().map(freehold::Zone::free_pages).sum();
        let all: u64 = memory.zones().iter().map(|zone| zone.end().0 - zone.start().0).sum();
        assert_eq!(in_use + free, all, "{context}: pages were lost");
    }
}

impl Relocate for Owner {
    fn is_movable(&mut self, pfn: Pfn, order: Order) -> bool {
        let in_use = self.in_use.get(&pfn.0);
        assert!(in_use.is_none_or(|in_use| in_use.order == order));
        in_use.is_some_and(|in_use| in_use.movable)
    }

    fn relocate(&mut self, from: Pfn, to: Pfn, order: Order) -> bool {
        self.moves += 1;
        if self.refuses == Some(self.moves) {
            return false;
        }
        let in_use = self.in_use.remove(&from.0).expect("a block in use");
        assert_eq!((in_use.order, in_use.movable), (order, true));
        assert_eq!(self.in_use.insert(to.0, in_use), None, "{to} is in use");
        true
    }
}

impl Shrinker<Host> for Owner {
    fn shrink(&mut self, memory: &Memory<'_, Host>, control: ShrinkControl) -> Reclaimed {
        let pages = self.in_use.iter().filter(|(_, in_use)| in_use.movable && in_use.order == Order::ZERO);
        let most = if self.reclaims { control.wanted as usize } else { 0 };
        let found: Vec<u64> = pages.map(|(&pfn, _)| pfn).take(most).collect();
        for &pfn in &found {
            self.free(memory, pfn);
        }
        Reclaimed { scanned: control.wanted, reclaimed: found.len() as u64 }
    }

    fn reclaimable_pages(&mut self, _: u16, _: ZoneType) -> u64 {
        let single = |in_use: &&InUse| in_use.movable && in_use.order == Order::ZERO;
        if self.reclaims { self.in_use.values().filter(single).count() as u64 } else { 0 }
    }
}
