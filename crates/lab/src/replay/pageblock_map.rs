//! The contents of each pageblock of a replayed memory, in one byte.

use freehold::{Memory, Migratetype, PageblockUse, Platform};

/// The largest number of cells in a map. With more pageblocks, neighbours share a cell.
const MOST_CELLS: usize = 1 << 14;

/// The largest fill level of a cell.
const FULL: u32 = 7;

/// One cell of a map, in seven bits. Bits 4 to 6 are the type, 7 for a hole. Bit 3 is set if the pageblock is mixed.
/// Bits 0 to 2 are the fill level, from 0 if all pages are free to 7 if none is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MapCell(pub u8);

impl MapCell {
    const HOLE: Self = Self(7 << 4);

    fn new(used: &PageblockUse) -> Self {
        let Some(kind) = used.migratetype else { return Self::HOLE };
        let in_use = used.allocated.iter().sum::<u32>() + used.reserved;
        let pages = in_use + used.free + used.percpu;
        // 0 and 7 are exact: no page is in use, and no page is free.
        let fill = match (in_use, pages - in_use) {
            (0, _) => 0,
            (_, 0) => FULL,
            _ => (in_use * FULL / pages).clamp(1, FULL - 1),
        };
        Self((kind as u8) << 4 | u8::from(used.is_mixed()) << 3 | fill as u8)
    }

    /// Returns the pageblock's type; `None` for a hole.
    pub fn migratetype(self) -> Option<Migratetype> {
        Migratetype::new(self.0 >> 4)
    }

    /// Returns true if the pageblock has pages of another type than its own.
    pub fn is_mixed(self) -> bool {
        self.0 & 8 != 0
    }

    /// Returns the fill level of the pageblock, from 0 if all pages are free to 7 if none is.
    pub fn fill(self) -> u8 {
        self.0 & 7
    }

    /// Returns a rank by which pageblocks prevent large blocks. A shared cell shows the pageblock with the highest
    /// rank.
    fn rank(self) -> (bool, bool, u8) {
        (self != Self::HOLE, self.is_mixed(), self.fill())
    }
}

/// The contents of each pageblock of a memory at one moment.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReplayPageblocks {
    /// The number of pageblocks that share a cell.
    pub pageblocks_per_cell: usize,
    /// Cells from low to high addresses, by zone in the engine's order.
    pub zones: Vec<Vec<MapCell>>,
    mixed: u64,
}

impl ReplayPageblocks {
    /// Reads every pageblock.
    pub(super) fn new<P: Platform>(memory: &Memory<'_, P>) -> Self {
        let cells = |zone: &freehold::Zone<'_, P>| -> Vec<_> {
            zone.pageblocks().map(|used| MapCell::new(&used)).collect()
        };
        let zones: Vec<_> = memory.zones().iter().map(cells).collect();
        let mixed = zones.iter().flatten().filter(|cell| cell.is_mixed()).count() as u64;
        let all: usize = zones.iter().map(Vec::len).sum();
        let share = all.div_ceil(MOST_CELLS).max(1);
        let worst =
            |cells: &[MapCell]| cells.iter().copied().max_by_key(|cell| cell.rank()).unwrap_or(MapCell::HOLE);
        let zones = zones.into_iter().map(|cells| match share {
            1 => cells,
            _ => cells.chunks(share).map(worst).collect(),
        });
        Self { pageblocks_per_cell: share, zones: zones.collect(), mixed }
    }

    /// Returns the number of mixed pageblocks, counted one by one even if they share a cell.
    pub fn mixed(&self) -> u64 {
        self.mixed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(free: u32, allocated: [u32; 3], reserved: u32) -> PageblockUse {
        let migratetype = Some(Migratetype::Movable);
        PageblockUse { migratetype, free, allocated, reserved, ..PageblockUse::default() }
    }

    #[test]
    fn a_cell_has_type_mixing_and_fill_level() {
        let cell = |used: &PageblockUse| {
            let cell = MapCell::new(used);
            (cell.migratetype(), cell.is_mixed(), cell.fill())
        };
        let movable = Some(Migratetype::Movable);
        assert_eq!(cell(&used(512, [0; 3], 0)), (movable, false, 0));
        assert_eq!(cell(&used(511, [0, 1, 0], 0)), (movable, false, 1));
        assert_eq!(cell(&used(1, [0, 500, 0], 11)), (movable, false, 6));
        assert_eq!(cell(&used(0, [1, 511, 0], 0)), (movable, true, 7));
        assert_eq!(cell(&PageblockUse::default()).0, None);
    }

    #[test]
    fn a_shared_cell_shows_the_worst_pageblock() {
        let cells =
            [MapCell::HOLE, MapCell::new(&used(0, [0, 512, 0], 0)), MapCell::new(&used(5, [1, 506, 0], 0))];
        assert!(cells.windows(2).all(|pair| pair[0].rank() < pair[1].rank()), "{cells:?}");
    }
}
