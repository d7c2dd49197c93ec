//! A naive page allocator: plain lists, no counters, no optimisation.
//!
//! It serves one zone without reserves, CMA or isolation. It finds everything by
//! walking the lists.

mod fallback;
mod percpu;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use freehold::Switches;

pub(crate) use percpu::CpuLists;

/// Unmovable, movable and reclaimable, numbered as in the engine.
pub(crate) const TYPES: usize = 3;
pub(crate) const UNMOVABLE: usize = 0;
pub(crate) const MOVABLE: usize = 1;
pub(crate) const RECLAIMABLE: usize = 2;

/// The level at which a search for a block starts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Native,
    Steal,
}

/// The settings of the model. The engine gets the same settings.
#[derive(Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The holes: each pair is the first frame of a hole, and the frame behind it.
    pub(crate) holes: &'static [(u64, u64)],
    pub(crate) max_order: u8,
    pub(crate) block_order: u8,
    pub(crate) switches: Switches,
    pub(crate) batch: i64,
    pub(crate) high_min: i64,
    pub(crate) high_max: i64,
    pub(crate) flush_needs_batch: bool,
    pub(crate) marks: [i64; 3],
    pub(crate) managed: i64,
}

impl Settings {
    /// Returns the ranges between the holes.
    pub(crate) fn memory(&self) -> impl Iterator<Item = (u64, u64)> {
        let starts = [self.start].into_iter().chain(self.holes.iter().map(|hole| hole.1));
        let ranges = starts.zip(self.holes.iter().map(|hole| hole.0).chain([self.end]));
        ranges.filter(|(start, end)| start < end)
    }
}

/// One zone.
#[derive(Clone)]
pub(crate) struct Naive {
    pub(crate) set: Settings,
    /// Free blocks by order, then type, from head to tail.
    pub(crate) lists: Vec<[VecDeque<u64>; TYPES]>,
    /// The type of each pageblock, by its number.
    pub(crate) types: BTreeMap<u64, usize>,
    /// The approximate number of pages of each pageblock that movable requests got, as the engine counts them.
    pub(crate) movable: BTreeMap<u64, u64>,
    /// Pages that movable requests got and that have not returned to the free lists.
    pub(crate) taken: BTreeSet<u64>,
    /// Owned blocks: order and requested type.
    pub(crate) owned: BTreeMap<u64, (u8, usize)>,
    pub(crate) cpus: Vec<CpuLists>,
    pub(crate) boost: i64,
    pub(crate) below_high: bool,
    pub(crate) reclaiming: bool,
    /// True while requests and frees bypass the CPUs' lists.
    pub(crate) bypass: bool,
}

impl Naive {
    /// Returns a zone whose frames are all free and movable.
    pub(crate) fn new(set: Settings, cpus: usize) -> Self {
        let mut model = Self {
            set,
            lists: (0..=set.max_order).map(|_| Default::default()).collect(),
            types: (set.start >> set.block_order..=set.end >> set.block_order)
                .map(|block| (block, MOVABLE))
                .collect(),
            movable: BTreeMap::new(),
            taken: BTreeSet::new(),
            owned: BTreeMap::new(),
            cpus: (0..cpus).map(|_| CpuLists::new(&set)).collect(),
            boost: 0,
            below_high: false,
            reclaiming: false,
            bypass: false,
        };
        for (start, end) in set.memory() {
            let mut at = start;
            while at < end {
                let fits = |order: &u8| at.is_multiple_of(1 << order) && at + (1 << order) <= end;
                let order = (0..=set.max_order).rev().find(fits).expect("one page fits");
                model.free_by_pageblock(at, order, true);
                at += 1 << order;
            }
        }
        model
    }

    pub(crate) fn block_type(&self, pfn: u64) -> usize {
        self.types[&(pfn >> self.set.block_order)]
    }

    /// Sets the type of every pageblock that a block touches.
    pub(crate) fn set_types(&mut self, pfn: u64, order: u8, kind: usize) {
        for frame in pfn..pfn + (1 << order) {
            self.types.insert(frame >> self.set.block_order, kind);
        }
    }

    /// Returns the type of the list that has a free block.
    pub(crate) fn listed(&self, pfn: u64, order: u8) -> Option<usize> {
        (0..TYPES).find(|&kind| self.lists[usize::from(order)][kind].contains(&pfn))
    }

    pub(crate) fn unlist(&mut self, pfn: u64, order: u8) {
        for list in &mut self.lists[usize::from(order)] {
            list.retain(|&listed| listed != pfn);
        }
    }

    pub(crate) fn list(&mut self, pfn: u64, order: u8, kind: usize, tail: bool) {
        let list = &mut self.lists[usize::from(order)][kind];
        if tail { list.push_back(pfn) } else { list.push_front(pfn) }
    }

    pub(crate) fn free_pages(&self) -> i64 {
        let blocks = |order: usize| self.lists[order].iter().map(VecDeque::len).sum::<usize>();
        (0..self.lists.len()).map(|order| (blocks(order) << order) as i64).sum()
    }

    /// Frees a block, merged with its free buddies.
    pub(crate) fn free_block(&mut self, pfn: u64, order: u8, kind: usize, tail: bool) {
        let (mut pfn, mut order) = (pfn, order);
        while order < self.set.max_order && self.listed(pfn ^ (1 << order), order).is_some() {
            let buddy = pfn ^ (1 << order);
            self.unlist(buddy, order);
            if order >= self.set.block_order && self.set.switches.hygiene {
                self.set_types(buddy, order, kind);
            }
            pfn = pfn.min(buddy);
            order += 1;
        }
        // If the buddy of the next order is free, another merge is likely, so the block goes to the tail.
        let uncle = (pfn & !(1 << order)) ^ (2 << order);
        let promising = order + 2 <= self.set.max_order && self.listed(uncle, order + 1).is_some();
        let is_last = self.bypass && self.frames_from(pfn) <= self.free_pages();
        self.list(pfn, order, kind, tail || promising || is_last);
        // A free pageblock ends the bypass.
        self.bypass &= order < self.set.block_order;
    }

    /// Returns the number of frames with metadata from `pfn` to the end of the zone. A section has metadata if it has
    /// memory.
    fn frames_from(&self, pfn: u64) -> i64 {
        let section = 1 << self.set.max_order;
        let starts = (self.set.start & !(section - 1)..self.set.end).step_by(section as usize);
        let has_memory = |at: &u64| self.set.memory().any(|(start, end)| start < at + section && *at < end);
        let frames = |at: u64| (at + section).min(self.set.end).saturating_sub(at.max(pfn)) as i64;
        starts.filter(has_memory).map(frames).sum()
    }

    /// Starts the bypass of the CPUs' lists after a refused request of orders 1 to 3.
    fn start_bypass(&mut self, order: u8) {
        let switches = self.set.switches.in_effect();
        if switches.bypasses_lists_when_short
            && (1..=3).contains(&order)
            && !self.bypass
            && !self.has_block(order.min(self.set.block_order))
        {
            self.bypass = true;
            self.drain_all();
            self.below_high &= !self.is_above_high();
        }
    }

    pub(crate) fn free_by_pageblock(&mut self, pfn: u64, order: u8, tail: bool) {
        let piece = order.min(self.set.block_order);
        for at in (pfn..pfn + (1 << order)).step_by(1 << piece) {
            self.free_block(at, piece, self.block_type(at), tail);
        }
    }

    fn free_direct(&mut self, pfn: u64, order: u8) {
        if self.set.switches.hygiene {
            self.free_by_pageblock(pfn, order, false);
        } else {
            self.free_block(pfn, order, self.block_type(pfn), false);
        }
    }

    /// Splits a block down to the order `wanted`. The upper halves go to the heads of a type's lists.
    pub(crate) fn cut(&mut self, pfn: u64, from: u8, wanted: u8, kind: usize) {
        for order in (wanted..from).rev() {
            self.list(pfn + (1 << order), order, kind, false);
        }
    }

    pub(crate) fn take_smallest(&mut self, wanted: u8, kind: usize) -> Option<u64> {
        let order = (wanted..=self.set.max_order).find(|&o| !self.lists[usize::from(o)][kind].is_empty())?;
        let pfn = self.lists[usize::from(order)][kind].pop_front()?;
        self.cut(pfn, order, wanted, kind);
        Some(pfn)
    }

    fn admits(&self, order: u8, mark: usize) -> bool {
        let pages = self.free_pages() - ((1 << order) - 1);
        let has_block = |o: u8| self.lists[usize::from(o)].iter().any(|list| !list.is_empty());
        pages > self.set.marks[mark] + self.boost
            && (order == 0 || (order..=self.set.max_order).any(has_block))
    }

    fn attempt(&mut self, cpu: usize, order: u8, kind: usize, mark: usize) -> Option<u64> {
        let mut admitted = false;
        if self.set.switches.below_high_mark && !self.below_high {
            admitted = self.admits(order, 2);
            let by_pages = self.set.switches.marks_by_pages && self.is_above_high();
            self.below_high = !admitted && !by_pages;
        }
        if !admitted && !self.admits(order, mark) {
            return None;
        }
        let has_list = self.has_cpu_list(order);
        let listed = if has_list && !self.bypass { self.take_from_cpu(cpu, order, kind) } else { None };
        let found = listed.or_else(|| self.next(order, kind, &mut Level::Native));
        if found.is_none() && has_list && self.bypass { self.take_from_cpu(cpu, order, kind) } else { found }
    }

    /// Serves a request that may wait, but finds nothing to reclaim.
    pub(crate) fn alloc(&mut self, cpu: usize, order: u8, kind: usize) -> Option<u64> {
        let mut found = self.attempt(cpu, order, kind, 1).or_else(|| self.attempt(cpu, order, kind, 0));
        if found.is_none() && self.would_drain(order) {
            self.drain_all();
            found = self.attempt(cpu, order, kind, 0);
        }
        if found.is_none() {
            self.start_bypass(order);
        }
        self.owned.insert(found?, (order, kind));
        found
    }

    fn has_block(&self, order: u8) -> bool {
        self.lists[usize::from(order)..].iter().flatten().any(|list| !list.is_empty())
    }

    /// Returns true if a failing request drains the CPUs' lists: always without the switch and for order 0, otherwise
    /// if the drain makes a block or a list is too long to check.
    fn would_drain(&self, order: u8) -> bool {
        if !self.set.switches.drains_only_if_it_helps || order == 0 || self.has_block(order) {
            return true;
        }
        let mut drained = self.clone();
        drained.drain_all();
        drained.has_block(order) || self.cpus.iter().any(|cpu| cpu.pages() > 128)
    }

    /// Takes one block by its address, from CPUs' lists too. Returns true if it was free.
    pub(crate) fn alloc_at(&mut self, pfn: u64, order: u8) -> bool {
        let end = pfn + (1 << order);
        let in_use = |(&at, &(size, _)): (&u64, &(u8, usize))| at < end && pfn < at + (1 << size);
        let is_memory = self.set.memory().any(|(first, behind)| first <= pfn && end <= behind);
        if !is_memory || self.owned.iter().any(in_use) {
            return false;
        }
        if self.free_around(pfn, order).is_none() {
            self.drain_all();
        }
        let (block, found, kind) = self.free_around(pfn, order).expect("no page of the block has an owner");
        self.unlist(block, found);
        let (mut left, mut size) = (block, found);
        while size > order {
            size -= 1;
            let (lower, upper) = (left, left + (1 << size));
            left = if pfn < upper { lower } else { upper };
            self.list(lower + upper - left, size, kind, false);
        }
        self.owned.insert(pfn, (order, UNMOVABLE));
        true
    }

    /// Returns the free block that contains a block: first frame, order, and the type of its list.
    fn free_around(&self, pfn: u64, order: u8) -> Option<(u64, u8, usize)> {
        (order..=self.set.max_order).find_map(|size| {
            let block = pfn & !((1 << size) - 1);
            Some((block, size, self.listed(block, size)?))
        })
    }

    pub(crate) fn free(&mut self, cpu: usize, pfn: u64) {
        let (order, requested) = self.owned.remove(&pfn).expect("an owned block");
        if self.has_cpu_list(order) && !self.bypass {
            self.put_to_cpu(cpu, pfn, order, requested);
        } else {
            self.free_direct(pfn, order);
            self.count_returned(pfn, order, requested);
        }
    }

    pub(crate) fn is_above_high(&self) -> bool {
        self.admits(0, 2)
    }
}
