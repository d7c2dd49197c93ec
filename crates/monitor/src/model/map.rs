//! The pageblock map, reduced to one kind of contents a pageblock.

use freehold_linux::pageblocks::{Pageblock, Surveyed, UnmovableKind, ZonePageblocks};
use serde::{Serialize, Serializer};

use super::gigabytes::{Gigabyte, gigabytes, in_gigabyte};

/// What the pageblocks of a machine hold.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Map {
    /// Zones with memory, from low to high addresses.
    pub zones: Vec<ZoneMap>,
    /// Every aligned gigabyte with memory, by ascending addresses.
    pub gigabytes: Vec<Gigabyte>,
    /// Pageblocks of a gigabyte.
    pub in_gigabyte: u64,
    /// The age of the oldest part in milliseconds.
    pub age_ms: u64,
}

/// The pageblocks of one zone.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct ZoneMap {
    /// NUMA node.
    pub node: u32,
    /// Name of the zone.
    pub name: String,
    /// Number of the first pageblock: its first frame's number shifted right by the pageblock order.
    pub first_block: u64,
    /// The contents of every pageblock, by ascending address.
    #[serde(serialize_with = "as_letters")]
    pub blocks: Vec<Holds>,
    /// Who holds most of every pageblock's unmovable pages; `None` for one without such pages, or not read yet.
    #[serde(skip)]
    pub holders: Vec<Option<UnmovableKind>>,
}

/// What a pageblock holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Holds {
    /// Not read yet.
    #[default]
    Unread,
    /// No memory that the allocator manages.
    Absent,
    /// Free pages only.
    Free,
    /// Free pages only, some of them on per-CPU lists.
    Listed,
    /// Movable pages, perhaps free pages, and nothing else.
    Movable,
    /// Movable pages beside unmovable ones, which keep the pageblock from becoming free.
    Mixed,
    /// Unmovable pages, perhaps free pages, and no movable ones.
    Stuck,
}

impl Holds {
    /// Every kind of contents, in the order of the counts of [`ZoneMap::cells`].
    pub const ALL: [Self; 7] =
        [Self::Unread, Self::Absent, Self::Free, Self::Listed, Self::Movable, Self::Stuck, Self::Mixed];

    /// Returns the letter of this kind in texts.
    pub const fn letter(self) -> char {
        match self {
            Self::Unread => '?',
            Self::Absent => ' ',
            Self::Free => '.',
            Self::Listed => 'l',
            Self::Movable => 'm',
            Self::Mixed => 'x',
            Self::Stuck => 'S',
        }
    }

    /// Returns the word of this kind in legends.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unread => "not read yet",
            Self::Absent => "no memory",
            Self::Free => "free",
            Self::Listed => "on per-CPU lists",
            Self::Movable => "movable",
            Self::Mixed => "mixed",
            Self::Stuck => "stuck",
        }
    }
}

fn as_letters<S: Serializer>(blocks: &[Holds], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&blocks.iter().map(|holds| holds.letter()).collect::<String>())
}

impl Map {
    /// Reduces a survey of a machine with pages of `page_bytes` to a map.
    pub fn new(surveyed: &Surveyed, page_bytes: u64) -> Self {
        let order = surveyed.map.pageblock_order;
        let is_read = |at, block| surveyed.first_round.is_none_or(|position| (at, block) < position);
        let zone = |(at, zone): (usize, &ZonePageblocks)| {
            let records = || zone.blocks.iter().enumerate();
            let holds = |(block, record): (usize, &Pageblock)| {
                if is_read(at, block) { Holds::new(record, 1 << order) } else { Holds::Unread }
            };
            ZoneMap {
                node: zone.node,
                name: zone.name.clone(),
                first_block: zone.start_pfn >> order,
                blocks: records().map(holds).collect(),
                holders: records()
                    .map(|(block, record)| largest_holder(record).filter(|_| is_read(at, block)))
                    .collect(),
            }
        };
        Self {
            zones: surveyed.map.zones.iter().enumerate().map(zone).collect(),
            gigabytes: gigabytes(surveyed, page_bytes),
            in_gigabyte: in_gigabyte(page_bytes, order),
            age_ms: surveyed.round_ms,
        }
    }
}

/// Returns the reason that holds most of a pageblock's unmovable pages.
fn largest_holder(block: &Pageblock) -> Option<UnmovableKind> {
    let known = UnmovableKind::ALL
        .into_iter()
        .filter(|why| !matches!(why, UnmovableKind::Absent | UnmovableKind::Deferred));
    let pages = |why: UnmovableKind| {
        block.pages_of(why) - if why == UnmovableKind::Kernel { block.listed.into() } else { 0 }
    };
    known.filter(|&why| pages(why) > 0).max_by_key(|&why| pages(why))
}

impl Holds {
    /// Returns what a pageblock of `pages` pages holds.
    fn new(block: &Pageblock, pages: u32) -> Self {
        // Memory that the kernel has not set up yet counts as absent.
        let none = block.pages_of(UnmovableKind::Absent) + block.pages_of(UnmovableKind::Deferred);
        if none == pages {
            return Self::Absent;
        }
        match (block.movable() > 0, block.stuck() - u32::from(block.listed) > none) {
            (false, false) if block.listed > 0 => Self::Listed,
            (false, false) => Self::Free,
            (true, false) => Self::Movable,
            (true, true) => Self::Mixed,
            (false, true) => Self::Stuck,
        }
    }
}

impl ZoneMap {
    /// Returns the map in at most `cells` cells of neighbouring pageblocks. A cell is the number of
    /// its pageblocks of each kind, in the order of [`Holds::ALL`].
    pub fn cells(&self, cells: usize) -> Vec<[u32; Holds::ALL.len()]> {
        let per_cell = self.blocks.len().div_ceil(cells.max(1)).max(1);
        let count =
            |blocks: &[Holds]| Holds::ALL.map(|kind| blocks.iter().filter(|&&b| b == kind).count() as u32);
        self.blocks.chunks(per_cell).map(count).collect()
    }

    /// Returns the number of pageblocks of each kind, in the order of [`Holds::ALL`].
    pub fn totals(&self) -> [u32; Holds::ALL.len()] {
        self.cells(1).first().copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use freehold_linux::pageblocks::PageblockMap;

    use super::*;

    #[test]
    fn records_become_what_a_pageblock_holds() {
        let block = |free, anon, why: Option<(UnmovableKind, u16)>| {
            let mut block = Pageblock { free, anon, ..Pageblock::default() };
            if let Some((why, pages)) = why {
                block.unmovable[why as usize] = pages;
            }
            Holds::new(&block, 512)
        };
        assert_eq!(block(512, 0, None), Holds::Free);
        assert_eq!(block(100, 412, None), Holds::Movable);
        assert_eq!(block(100, 411, Some((UnmovableKind::Slab, 1))), Holds::Mixed);
        assert_eq!(block(511, 0, Some((UnmovableKind::PageTable, 1))), Holds::Stuck);
        assert_eq!(block(0, 0, Some((UnmovableKind::Deferred, 512))), Holds::Absent);
        let listed = |free: u16, anon: u16, kernel: u16| {
            let mut block = Pageblock { free, anon, listed: 3, ..Pageblock::default() };
            block.unmovable[UnmovableKind::Kernel as usize] = kernel;
            Holds::new(&block, 512)
        };
        let seen = [listed(509, 0, 3), listed(500, 9, 3), listed(508, 0, 4), listed(500, 8, 4)];
        assert_eq!(seen, [Holds::Listed, Holds::Movable, Holds::Stuck, Holds::Mixed]);
        assert_eq!(block(256, 0, Some((UnmovableKind::Absent, 256))), Holds::Free);
    }

    #[test]
    fn what_the_first_round_has_not_come_to_is_unread() {
        let zone = |name: &str| ZonePageblocks {
            name: name.to_owned(),
            start_pfn: 1024,
            blocks: vec![Pageblock { free: 512, ..Pageblock::default() }; 3],
            ..ZonePageblocks::default()
        };
        let map = PageblockMap { pageblock_order: 9, zones: vec![zone("DMA"), zone("Normal")] };
        let mut surveyed =
            Surveyed { map: Arc::new(map), first_round: Some((1, 2)), round_ms: 5, types: None };
        let begun = Map::new(&surveyed, 4096);
        assert_eq!(begun.zones[0].blocks, [Holds::Free; 3]);
        assert_eq!(begun.zones[1].blocks, [Holds::Free, Holds::Free, Holds::Unread]);
        assert_eq!((begun.zones[1].first_block, begun.age_ms), (2, 5));
        surveyed.first_round = None;
        assert_eq!(Map::new(&surveyed, 4096).zones[1].blocks, [Holds::Free; 3]);
    }

    #[test]
    fn who_holds_most_is_named() {
        let mut block = Pageblock { free: 500, ..Pageblock::default() };
        assert_eq!(largest_holder(&block), None);
        block.unmovable[UnmovableKind::Absent as usize] = 7;
        assert_eq!(largest_holder(&block), None, "what is not there holds nothing");
        (block.unmovable[UnmovableKind::Slab as usize], block.unmovable[UnmovableKind::Kernel as usize]) =
            (2, 3);
        assert_eq!(largest_holder(&block), Some(UnmovableKind::Kernel));
        block.listed = 2;
        assert_eq!(largest_holder(&block), Some(UnmovableKind::Slab), "free pages on lists hold nothing");
    }

    #[test]
    fn cells_count_their_neighbours() {
        use Holds::{Absent, Free, Mixed, Movable};
        let blocks = vec![Free, Free, Mixed, Movable, Absent];
        let zone = ZoneMap { blocks, ..ZoneMap::default() };
        assert_eq!(zone.cells(3), [[0, 0, 2, 0, 0, 0, 0], [0, 0, 0, 0, 1, 0, 1], [0, 1, 0, 0, 0, 0, 0]]);
        assert_eq!(zone.cells(100).len(), 5);
        assert_eq!(zone.totals(), [0, 1, 2, 0, 1, 0, 1]);
        assert_eq!(ZoneMap::default().totals(), [0; 7]);
    }
}
