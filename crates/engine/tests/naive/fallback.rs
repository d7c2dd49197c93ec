//! The fallback of the naive allocator, for a type without a block of its own.

use super::{Level, MOVABLE, Naive, RECLAIMABLE, UNMOVABLE};

const FALLBACKS: [[usize; 2]; 3] = [[RECLAIMABLE, MOVABLE], [RECLAIMABLE, UNMOVABLE], [UNMOVABLE, MOVABLE]];

impl Naive {
    /// Returns the next block of `wanted` order for a type. `level` is the level at which the last block was found.
    pub(crate) fn next(&mut self, wanted: u8, kind: usize, level: &mut Level) -> Option<u64> {
        let pfn = self.next_by_level(wanted, kind, level)?;
        if kind == MOVABLE {
            self.taken.extend(pfn..pfn + (1 << wanted));
            for block in self.blocks_of(pfn, wanted) {
                let most = 1 << self.set.block_order;
                let pages = self.movable.entry(block).or_default();
                *pages = (*pages + (1 << wanted)).min(most);
            }
        }
        Some(pfn)
    }

    /// Returns the numbers of the pageblocks that a block touches.
    fn blocks_of(&self, pfn: u64, order: u8) -> impl Iterator<Item = u64> + use<> {
        let shift = self.set.block_order;
        pfn >> shift..=(pfn + (1 << order) - 1) >> shift
    }

    /// Returns the number of pages of a pageblock that count as movable.
    fn counted_movable(&self, block: u64) -> u64 {
        if self.set.switches.marks_movable_pages {
            let (start, pages) = (block << self.set.block_order, 1 << self.set.block_order);
            return self.taken.range(start..start + pages).count() as u64;
        }
        self.movable.get(&block).copied().unwrap_or(0)
    }

    /// Counts a block that has returned to the free lists. Its owner had requested the type `requested`.
    pub(crate) fn count_returned(&mut self, pfn: u64, order: u8, requested: usize) {
        for page in pfn..pfn + (1 << order) {
            self.taken.remove(&page);
        }
        for block in self.blocks_of(pfn, order) {
            let (start, pages) = (block << self.set.block_order, 1 << self.set.block_order);
            let taken = pages - self.uses(start, start + pages).0;
            let back = if requested == MOVABLE { 1 << order } else { 0 };
            let counted = self.movable.entry(block).or_default();
            *counted = counted.saturating_sub(back).min(taken);
        }
    }

    fn next_by_level(&mut self, wanted: u8, kind: usize, level: &mut Level) -> Option<u64> {
        if !self.set.switches.hygiene {
            return self.next_before_hygiene(wanted, kind);
        }
        if !self.set.switches.remembered_mode {
            *level = Level::Native;
        }
        if *level == Level::Native
            && let Some(pfn) = self.take_smallest(wanted, kind).or_else(|| self.claim(wanted, kind))
        {
            return Some(pfn);
        }
        *level = Level::Steal;
        let (order, foreign) =
            (wanted..=self.set.max_order).find_map(|o| Some((o, self.foreign(o, kind)?)))?;
        let pfn = self.lists[usize::from(order)][foreign].pop_front()?;
        self.cut(pfn, order, wanted, foreign);
        Some(pfn)
    }

    fn foreign(&self, order: u8, kind: usize) -> Option<usize> {
        FALLBACKS[kind].into_iter().find(|&other| !self.lists[usize::from(order)][other].is_empty())
    }

    fn may_claim(&self, order: u8, kind: usize) -> bool {
        order >= self.set.block_order / 2 || kind != MOVABLE
    }

    fn raise_marks(&mut self) {
        let block = 1 << self.set.block_order;
        let limit = self.set.marks[2] * 15_000 / 10_000;
        if block * 4 <= self.set.managed && limit > 0 {
            self.boost = (self.boost + block).min(limit.max(block));
        }
    }

    /// Returns the number of free pages of a range, and of owned movable pages.
    fn uses(&self, start: u64, end: u64) -> (u64, u64) {
        let overlap = |pfn: u64, order: u8| {
            let (from, to) = (pfn.max(start), (pfn + (1 << order)).min(end));
            to.saturating_sub(from)
        };
        let free = (0..=self.set.max_order)
            .flat_map(|order| {
                self.lists[usize::from(order)].iter().flatten().map(move |&pfn| overlap(pfn, order))
            })
            .sum();
        let movable = self
            .owned
            .iter()
            .filter(|(_, (_, kind))| *kind == MOVABLE)
            .map(|(&p, &(o, _))| overlap(p, o))
            .sum();
        (free, movable)
    }

    fn is_suited(&self, (free, movable): (u64, u64), from: usize, to: usize) -> bool {
        let pages = 1 << self.set.block_order;
        let alike = match (to, from) {
            (MOVABLE, _) => movable,
            (_, MOVABLE) => pages - free - movable,
            _ => 0,
        };
        free + alike >= pages / 2
    }

    /// Moves the free blocks of a range to the tails of a type's lists, in address order.
    fn move_free(&mut self, start: u64, end: u64, to: usize) {
        for pfn in start..end {
            for order in 0..=self.set.max_order {
                if self.listed(pfn, order).is_some() {
                    self.unlist(pfn, order);
                    self.list(pfn, order, to, true);
                }
            }
        }
    }

    /// Claims a pageblock for a type, the largest free blocks first.
    fn claim(&mut self, wanted: u8, kind: usize) -> Option<u64> {
        if let Some(pfn) = self.used_to_claim(wanted, kind) {
            self.raise_marks();
            let start = pfn & !((1 << self.set.block_order) - 1);
            if start >= self.set.start && start + (1 << self.set.block_order) <= self.set.end {
                self.move_free(start, start + (1 << self.set.block_order), kind);
                self.set_types(start, self.set.block_order, kind);
                return self.take_smallest(wanted, kind);
            }
        }
        for order in (wanted..=self.set.max_order).rev() {
            if !self.may_claim(order, kind) {
                return None;
            }
            let Some(foreign) = self.foreign(order, kind) else { continue };
            let pfn = self.lists[usize::from(order)][foreign][0];
            if order >= self.set.block_order {
                self.unlist(pfn, order);
                self.set_types(pfn, order, kind);
                self.cut(pfn, order, wanted, kind);
                return Some(pfn);
            }
            self.raise_marks();
            let start = pfn & !((1 << self.set.block_order) - 1);
            let end = start + (1 << self.set.block_order);
            let inside = start >= self.set.start && end <= self.set.end;
            let mut used = self.uses(start, end);
            if self.set.switches.claims_by_counts {
                used.1 = self.counted_movable(start >> self.set.block_order);
            }
            if inside && self.is_suited(used, foreign, kind) {
                self.move_free(start, end, kind);
                self.set_types(start, self.set.block_order, kind);
                return self.take_smallest(wanted, kind);
            }
        }
        None
    }

    /// Returns a block in the first pageblock that is partly in use and worth claiming. Scans the heads of the lists,
    /// largest blocks first.
    fn used_to_claim(&self, wanted: u8, kind: usize) -> Option<u64> {
        if !(self.set.switches.claims_used_first && self.set.switches.claims_by_counts) {
            return None;
        }
        let pages = 1 << self.set.block_order;
        let will_do = |pfn: u64, foreign: usize| {
            let block = pfn >> self.set.block_order;
            let start = block << self.set.block_order;
            let movable = self.counted_movable(block);
            let (free, _) = self.uses(start, start + pages);
            let has_unmovable = foreign == MOVABLE && free + movable < pages;
            let is_lost = kind != MOVABLE && has_unmovable && free >= pages / 8;
            is_lost || self.is_suited((free, movable), foreign, kind)
        };
        (wanted..self.set.block_order).rev().find_map(|order| {
            FALLBACKS[kind].into_iter().find_map(|foreign| {
                let heads = self.lists[usize::from(order)][foreign].iter().take(32);
                heads.copied().find(|&pfn| will_do(pfn, foreign))
            })
        })
    }

    fn next_before_hygiene(&mut self, wanted: u8, kind: usize) -> Option<u64> {
        loop {
            if let Some(pfn) = self.take_smallest(wanted, kind) {
                return Some(pfn);
            }
            let largest = (wanted..=self.set.max_order).rev().find(|&o| self.foreign(o, kind).is_some())?;
            let closest = (wanted..=self.set.max_order).find(|&o| self.foreign(o, kind).is_some())?;
            let order = if self.may_claim(largest, kind) { largest } else { closest };
            self.pull_over(order, kind);
        }
    }

    /// Moves another type's block to a type's lists, with its pageblock's free pages if allowed.
    fn pull_over(&mut self, order: u8, kind: usize) {
        let foreign = self.foreign(order, kind).expect("a foreign block");
        let pfn = self.lists[usize::from(order)][foreign][0];
        let old = self.block_type(pfn);
        let start = pfn & !((1 << self.set.block_order) - 1);
        let end = start + (1 << self.set.block_order);
        if order >= self.set.block_order {
            self.set_types(pfn, order, kind);
        } else {
            self.raise_marks();
            // If the zone starts inside the pageblock, only pages from this one on move. If the
            // zone ends inside it, no pages move.
            let start = if start < self.set.start { pfn } else { start };
            if self.may_claim(order, kind) && end <= self.set.end {
                let used = self.uses(start, end);
                self.move_free(start, end, kind);
                if self.is_suited(used, old, kind) {
                    self.set_types(pfn, 0, kind);
                }
                return;
            }
        }
        self.unlist(pfn, order);
        self.list(pfn, order, kind, true);
    }
}
