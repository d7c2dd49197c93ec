//! The search for pageblock types that agree with the counts of the machine.

use freehold::{MAX_ORDERS, MIGRATETYPES, Migratetype};
use freehold_trace::{FreeCount, PageTypeZone};
use serde::Serialize;

/// The difference between the fitted start of one zone and the machine's pagetypeinfo.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct ZoneFit {
    /// The name of the zone.
    pub zone: String,
    /// True if the machine's pagetypeinfo has this zone. Otherwise all differences are 0.
    pub known: bool,
    /// Free blocks that differ, summed over orders and types.
    pub free_blocks: u64,
    /// Pages of the free blocks that differ.
    pub free_pages: u64,
    /// Pageblocks that differ, summed over types.
    pub pageblocks: u64,
    /// Free pages on the machine.
    pub machine_free_pages: u64,
}

impl ZoneFit {
    /// Returns the free pages that differ.
    ///
    /// Units: percent of the machine's free pages.
    pub fn percent(&self) -> f64 {
        100.0 * self.free_pages as f64 / self.machine_free_pages.max(1) as f64
    }
}

/// Pageblocks that must have the same type: a single pageblock, or all pageblocks under one free block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unit {
    /// The first pageblock, counted from the zone's first.
    pub(super) first: usize,
    /// The number of pageblocks.
    pub(super) blocks: usize,
    /// The number of these pageblocks that the kernel counts.
    pub(super) counted: u64,
    /// Free blocks by order.
    pub(super) free: [u32; MAX_ORDERS],
    pub(super) evidence: [u32; MIGRATETYPES],
}

/// The cost of one pageblock too many or too few of a type.
const PAGEBLOCK_COST: i64 = 2000;

/// The largest cost of a type that is unlikely for the pages in a pageblock.
const EVIDENCE_COST: i64 = 32;

/// The largest number of evaluations in a search.
const BUDGET: u64 = 3_000_000;

/// The limit for all counts, so that costs do not overflow. No machine has so many blocks.
const MOST: u64 = 1 << 40;

impl Unit {
    pub(super) fn add_evidence(&mut self, of_block: &[u32; MIGRATETYPES]) {
        for (sum, add) in self.evidence.iter_mut().zip(of_block) {
            *sum += add;
        }
    }

    /// Returns the cost of a type for the pages inside: 0 if the pages are not evidence against it.
    fn doubt(&self, kind: Migratetype) -> i64 {
        let most = i64::from(self.evidence.iter().copied().max().unwrap_or(0));
        if most == 0 {
            // Without used pages, movable is likely: Linux starts every pageblock as movable.
            return if kind == Migratetype::Movable { 0 } else { EVIDENCE_COST / 8 };
        }
        EVIDENCE_COST * (most - i64::from(self.evidence[kind.index()])) / most
    }

    fn best_guess(&self) -> Migratetype {
        let candidates = [Migratetype::Movable, Migratetype::Unmovable, Migratetype::Reclaimable];
        candidates.into_iter().min_by_key(|&kind| self.doubt(kind)).unwrap_or(Migratetype::Movable)
    }
}

/// The state of the search for one zone.
pub(super) struct Search<'a> {
    units: &'a [Unit],
    types: Vec<Migratetype>,
    target: Option<&'a PageTypeZone>,
    free: [[i64; MAX_ORDERS]; MIGRATETYPES],
    blocks: [i64; MIGRATETYPES],
    evaluations: u64,
}

fn difference(fitted: i64, machine: FreeCount) -> i64 {
    let difference = machine.blocks.min(MOST) as i64 - fitted;
    if machine.capped { difference.max(0) } else { difference.abs() }
}

impl<'a> Search<'a> {
    /// Starts from the `given` types of pageblocks, or from the types that are likely for the pages inside.
    pub(super) fn new(
        units: &'a [Unit],
        target: Option<&'a PageTypeZone>,
        given: Option<&[Migratetype]>,
    ) -> Self {
        let types: Vec<_> = units
            .iter()
            .map(|unit| given.map_or_else(|| unit.best_guess(), |given| given[unit.first]))
            .collect();
        let (mut free, mut blocks) = ([[0; MAX_ORDERS]; MIGRATETYPES], [0; MIGRATETYPES]);
        for (unit, kind) in units.iter().zip(&types) {
            for (sum, &add) in free[kind.index()].iter_mut().zip(&unit.free) {
                *sum += i64::from(add);
            }
            blocks[kind.index()] += unit.counted as i64;
        }
        Self { units, types, target, free, blocks, evaluations: 0 }
    }

    /// Returns the type of each unit.
    pub(super) fn types(&self) -> impl Iterator<Item = Migratetype> + '_ {
        self.types.iter().copied()
    }

    /// Changes the type of one unit, then of two units at a time, as long as this reduces the cost.
    pub(super) fn run(&mut self) {
        let Some(target) = self.target else { return };
        while self.change_single(target) && self.evaluations < BUDGET {}
        let mut random = 0x2545_f491_4f6c_dd1d_u64;
        while self.evaluations < BUDGET {
            let mut better = false;
            for first in 0..self.units.len() {
                for _ in 0..24 {
                    random ^= random << 13;
                    random ^= random >> 7;
                    random ^= random << 17;
                    better |= self.swap(target, first, (random % self.units.len() as u64) as usize);
                }
            }
            if !(better | self.change_single(target)) {
                break;
            }
        }
    }

    fn change_single(&mut self, target: &PageTypeZone) -> bool {
        let mut better = false;
        for unit in 0..self.units.len() {
            for kind in Migratetype::ALL {
                let before = self.types[unit];
                if kind == before {
                    continue;
                }
                if self.change(target, unit, kind) < 0 {
                    better = true;
                } else {
                    self.change(target, unit, before);
                }
            }
        }
        better
    }

    fn swap(&mut self, target: &PageTypeZone, first: usize, second: usize) -> bool {
        let (of_first, of_second) = (self.types[first], self.types[second]);
        if of_first == of_second {
            return false;
        }
        let gain = self.change(target, first, of_second) + self.change(target, second, of_first);
        if gain >= 0 {
            self.change(target, first, of_first);
            self.change(target, second, of_second);
        }
        gain < 0
    }

    /// Sets another type for a unit. Returns the increase of the cost.
    fn change(&mut self, target: &PageTypeZone, unit: usize, to: Migratetype) -> i64 {
        self.evaluations += 1;
        let from = std::mem::replace(&mut self.types[unit], to);
        let unit = &self.units[unit];
        let mut cost = unit.doubt(to) - unit.doubt(from);
        for (kind, sign) in [(from.index(), -1), (to.index(), 1)] {
            for order in (0..MAX_ORDERS).filter(|&order| unit.free[order] > 0) {
                let wanted = target.free[kind].of(order);
                let value = &mut self.free[kind][order];
                let before = difference(*value, wanted);
                *value += sign * i64::from(unit.free[order]);
                cost += (difference(*value, wanted) - before) * (4 + (1 << order));
            }
            let wanted = target.blocks[kind].min(MOST) as i64;
            let before = (self.blocks[kind] - wanted).abs();
            self.blocks[kind] += sign * unit.counted as i64;
            cost += ((self.blocks[kind] - wanted).abs() - before) * PAGEBLOCK_COST;
        }
        cost
    }

    /// Returns the difference between the current types and the counts of the machine.
    pub(super) fn difference(&self) -> ZoneFit {
        let Some(target) = self.target else { return ZoneFit::default() };
        let mut fit = ZoneFit { known: true, ..ZoneFit::default() };
        for kind in 0..MIGRATETYPES {
            for order in 0..MAX_ORDERS {
                let wanted = target.free[kind].of(order);
                let blocks = difference(self.free[kind][order], wanted) as u64;
                fit.free_blocks = fit.free_blocks.saturating_add(blocks);
                fit.free_pages = fit.free_pages.saturating_add(blocks.saturating_mul(1 << order));
                let machine_pages = wanted.blocks.saturating_mul(1 << order);
                fit.machine_free_pages = fit.machine_free_pages.saturating_add(machine_pages);
            }
            let pageblocks = self.blocks[kind].unsigned_abs().abs_diff(target.blocks[kind]);
            fit.pageblocks = fit.pageblocks.saturating_add(pageblocks);
        }
        fit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_decide_types_that_the_pages_inside_do_not() {
        let unit = |first, free: &[(usize, u32)]| {
            let mut unit = Unit { first, blocks: 1, counted: 1, ..Unit::default() };
            for &(order, blocks) in free {
                unit.free[order] = blocks;
            }
            unit
        };
        let units = [unit(0, &[(0, 3)]), unit(1, &[(0, 1), (4, 2)]), unit(2, &[(8, 1)]), unit(3, &[])];
        let mut target = PageTypeZone::default();
        target.blocks[Migratetype::Unmovable.index()] = 1;
        target.blocks[Migratetype::HighAtomic.index()] = 1;
        target.blocks[Migratetype::Movable.index()] = 2;
        let count = |blocks| FreeCount { blocks, capped: false };
        target.free[Migratetype::Unmovable.index()][0] = count(1);
        target.free[Migratetype::Unmovable.index()][4] = count(2);
        target.free[Migratetype::HighAtomic.index()][8] = count(1);
        target.free[Migratetype::Movable.index()][0] = count(3);
        let mut search = Search::new(&units, Some(&target), None);
        search.run();
        let expected =
            [Migratetype::Movable, Migratetype::Unmovable, Migratetype::HighAtomic, Migratetype::Movable];
        assert_eq!(search.types, expected);
        let fit = search.difference();
        assert_eq!((fit.free_blocks, fit.pageblocks), (0, 0));
        assert_eq!(fit.machine_free_pages, 3 + 1 + 32 + 256);
    }

    #[test]
    fn a_capped_count_is_a_lower_bound() {
        let capped = FreeCount { blocks: 100_000, capped: true };
        assert_eq!(difference(150_000, capped), 0);
        assert_eq!(difference(99_000, capped), 1000);
    }
}
