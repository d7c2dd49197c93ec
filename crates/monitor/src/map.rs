//! The pageblock map at the size that an output shows.

use serde::{Serialize, Serializer};

/// What the pageblocks of a machine hold.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Map {
    /// Zones with memory, from low to high addresses.
    pub zones: Vec<ZoneMap>,
    /// How long ago the oldest part of it was read, in milliseconds.
    pub age_ms: u64,
}

/// The pageblocks of one zone.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct ZoneMap {
    /// NUMA node.
    pub node: u32,
    /// Name of the zone.
    pub name: String,
    /// The first pageblock: its first frame's number shifted right by the pageblock order.
    pub first_block: u64,
    /// Every pageblock, in the order of addresses.
    #[serde(serialize_with = "as_letters")]
    pub blocks: Vec<Holds>,
}

/// What a pageblock holds, as far as a map of many can show.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Holds {
    /// Not read yet.
    #[default]
    Unread,
    /// No memory that the allocator manages.
    Absent,
    /// Free pages only.
    Free,
    /// Pages that compaction can move, and free ones.
    Movable,
    /// Pages that stay beside pages that move: what keeps a pageblock from being emptied.
    Mixed,
    /// Pages that stay, and free ones.
    Stuck,
}

impl Holds {
    /// Everything that a pageblock may hold, in the order in which a cell of several shows it: the last
    /// that any of them holds.
    pub const ALL: [Self; 6] =
        [Self::Unread, Self::Absent, Self::Free, Self::Movable, Self::Stuck, Self::Mixed];

    /// The letter that stands for it in texts.
    pub const fn letter(self) -> char {
        match self {
            Self::Unread => '?',
            Self::Absent => ' ',
            Self::Free => '.',
            Self::Movable => 'm',
            Self::Mixed => 'x',
            Self::Stuck => 'S',
        }
    }

    /// The word for legends.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unread => "not read yet",
            Self::Absent => "no memory",
            Self::Free => "free",
            Self::Movable => "movable",
            Self::Mixed => "mixed",
            Self::Stuck => "stuck",
        }
    }
}

fn as_letters<S: Serializer>(blocks: &[Holds], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&blocks.iter().map(|holds| holds.letter()).collect::<String>())
}

impl ZoneMap {
    /// The map in at most `cells` cells, each for as many neighbours as needed; each shows how many of its
    /// pageblocks hold what, by the order of [`Holds::ALL`].
    pub fn cells(&self, cells: usize) -> Vec<[u32; Holds::ALL.len()]> {
        let per_cell = self.blocks.len().div_ceil(cells.max(1)).max(1);
        let count =
            |blocks: &[Holds]| Holds::ALL.map(|kind| blocks.iter().filter(|&&b| b == kind).count() as u32);
        self.blocks.chunks(per_cell).map(count).collect()
    }

    /// How many pageblocks hold what, by the order of [`Holds::ALL`].
    pub fn totals(&self) -> [u32; Holds::ALL.len()] {
        self.cells(1).first().copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_count_their_neighbours() {
        use Holds::{Absent, Free, Mixed, Movable};
        let blocks = vec![Free, Free, Mixed, Movable, Absent];
        let zone = ZoneMap { blocks, ..ZoneMap::default() };
        assert_eq!(zone.cells(3), [[0, 0, 2, 0, 0, 0], [0, 0, 0, 1, 0, 1], [0, 1, 0, 0, 0, 0]]);
        assert_eq!(zone.cells(100).len(), 5);
        assert_eq!(zone.totals(), [0, 1, 2, 1, 0, 1]);
        assert_eq!(ZoneMap::default().totals(), [0; 6]);
    }
}
