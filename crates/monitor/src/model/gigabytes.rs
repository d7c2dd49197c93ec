//! The map of gigabytes: what each aligned gigabyte of memory holds.

use std::cmp::Reverse;

use freehold_linux::pageblocks::{Pageblock, Surveyed, UnmovableKind, ZonePageblocks};
use serde::{Serialize, Serializer};

/// The size of a range: the largest huge page of most processors.
const BYTES: u64 = 1 << 30;

/// An aligned gigabyte, or the part of one that lies in a zone.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Gigabyte {
    /// NUMA node.
    pub node: u32,
    /// Name of the zone.
    pub zone: String,
    /// Which gigabyte of physical addresses it is.
    pub number: u64,
    /// How it can become free.
    pub state: GigabyteState,
    /// Free pages.
    pub free: u64,
    /// Pages that can be moved.
    pub movable: u64,
    /// Pages of clean page cache that nobody maps.
    pub reclaimable: u64,
    /// Free pages on per-CPU lists, as far as they are known; the code that empties the gigabyte takes them back.
    pub listed: u64,
    /// Pages that can neither be moved nor reclaimed, by who holds them, most first.
    pub unmovable: Vec<(&'static str, u64)>,
}

/// How a gigabyte can become free.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum GigabyteState {
    /// A part of it was not read yet.
    Unread,
    /// It is not memory of one zone from end to end, or a part of it is reserved or not set up.
    Partial,
    /// All of it is free.
    Free,
    /// Beside free pages it has clean page cache only.
    Reclaimable,
    /// All its pages in use can be moved or reclaimed.
    Movable,
    /// Pages that stay hold it.
    Unmovable,
}

impl GigabyteState {
    /// Every state, from the least in the way of a free gigabyte to the most.
    pub const ALL: [Self; 6] =
        [Self::Free, Self::Reclaimable, Self::Movable, Self::Unmovable, Self::Partial, Self::Unread];

    /// Returns the letter in texts.
    pub const fn letter(self) -> char {
        match self {
            Self::Unread => '?',
            Self::Partial => '-',
            Self::Free => '.',
            Self::Reclaimable => 'r',
            Self::Movable => 'm',
            Self::Unmovable => 'S',
        }
    }

    /// Returns the word in legends.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unread => "not read yet",
            Self::Partial => "partial",
            Self::Free => "free",
            Self::Reclaimable => "reclaimable",
            Self::Movable => "movable",
            Self::Unmovable => "unmovable",
        }
    }
}

impl Serialize for GigabyteState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Returns the pageblocks of a gigabyte: one where a pageblock is larger.
pub(super) fn in_gigabyte(page_bytes: u64, pageblock_order: u8) -> u64 {
    ((BYTES / page_bytes.max(1)) >> pageblock_order).max(1)
}

/// Returns the gigabytes of every zone, by ascending addresses. Those without any memory are left out.
pub(super) fn gigabytes(surveyed: &Surveyed, page_bytes: u64) -> Vec<Gigabyte> {
    let order = surveyed.map.pageblock_order;
    let in_one = in_gigabyte(page_bytes, order);
    let of_zone = |(at, zone): (usize, &ZonePageblocks)| {
        let first = zone.start_pfn >> order;
        let skip = (in_one - first % in_one).min(in_one);
        let (head, rest) = zone.blocks.split_at(zone.blocks.len().min(skip as usize));
        let parts = std::iter::once(head).chain(rest.chunks(in_one as usize)).filter(|part| !part.is_empty());
        let mut done = 0;
        let mut found = Vec::new();
        for part in parts {
            let number = (first + done as u64) / in_one;
            let unread = surveyed.first_round.is_some_and(|round| (at, done + part.len()) > round);
            done += part.len();
            let sums = Sums::of(part);
            let whole = part.len() as u64 == in_one && sums.none == 0;
            if sums.none < (part.len() as u64) << order {
                found.push(sums.gigabyte(zone, number, unread, whole));
            }
        }
        found
    };
    surveyed.map.zones.iter().enumerate().flat_map(of_zone).collect()
}

/// Pages of a gigabyte.
struct Sums {
    free: u64,
    movable: u64,
    reclaimable: u64,
    unmovable: [u64; UnmovableKind::COUNT],
    /// Those of [`UnmovableKind::Kernel`] that are free on per-CPU lists.
    listed: u64,
    /// Pages that are absent, reserved or not set up.
    none: u64,
}

impl Sums {
    fn of(blocks: &[Pageblock]) -> Self {
        let sum = |pages: &dyn Fn(&Pageblock) -> u64| blocks.iter().map(pages).sum::<u64>();
        let unmovable = UnmovableKind::ALL.map(|why| sum(&|block| u64::from(block.pages_of(why))));
        let reclaimable = sum(&|block| u64::from(block.file_clean));
        Self {
            free: sum(&|block| u64::from(block.free)),
            movable: sum(&|block| u64::from(block.movable())) - reclaimable,
            reclaimable,
            unmovable,
            listed: sum(&|block| u64::from(block.listed)),
            none: [UnmovableKind::Absent, UnmovableKind::Reserved, UnmovableKind::Deferred]
                .iter()
                .map(|&why| unmovable[why as usize])
                .sum(),
        }
    }

    fn gigabyte(self, zone: &ZonePageblocks, number: u64, unread: bool, whole: bool) -> Gigabyte {
        let mut unmovable: Vec<_> = UnmovableKind::ALL
            .into_iter()
            .filter(|why| !matches!(why, UnmovableKind::Absent))
            .map(|why| {
                (
                    why.name(),
                    self.unmovable[why as usize] - if why == UnmovableKind::Kernel { self.listed } else { 0 },
                )
            })
            .filter(|&(_, pages)| pages > 0)
            .collect();
        unmovable.sort_by_key(|&(_, pages)| Reverse(pages));
        let state = match (unread, whole, unmovable.is_empty()) {
            (true, ..) => GigabyteState::Unread,
            (_, false, _) => GigabyteState::Partial,
            (.., false) => GigabyteState::Unmovable,
            _ if self.movable > 0 => GigabyteState::Movable,
            _ if self.reclaimable > 0 => GigabyteState::Reclaimable,
            _ => GigabyteState::Free,
        };
        Gigabyte {
            node: zone.node,
            zone: zone.name.clone(),
            number,
            state,
            free: self.free,
            movable: self.movable,
            reclaimable: self.reclaimable,
            listed: self.listed,
            unmovable,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use freehold_linux::pageblocks::PageblockMap;

    use super::*;

    #[test]
    fn gigabytes_have_the_state_of_their_largest_obstacle() {
        // Pageblocks of 256 MiB: four are a gigabyte.
        let full = 1 << 12;
        let free = Pageblock { free: full, ..Pageblock::default() };
        let anon = Pageblock { free: 90, anon: full - 90, ..Pageblock::default() };
        let cache = Pageblock { free: 90, file_clean: full - 90, ..Pageblock::default() };
        let unmovable = |why: UnmovableKind| {
            let mut block = Pageblock { free: full - 7, ..Pageblock::default() };
            block.unmovable[why as usize] = 7;
            block
        };
        let on_lists = Pageblock { listed: 7, ..unmovable(UnmovableKind::Kernel) };
        let with = |block| [free, free, block, free];
        let blocks = [
            &[free; 2][..],
            &with(free),
            &with(cache),
            &with(anon),
            &with(unmovable(UnmovableKind::Slab)),
            &with(unmovable(UnmovableKind::Absent)),
            &with(unmovable(UnmovableKind::Deferred)),
            &[free, on_lists, free, free],
            &[free; 3],
        ];
        let zone = ZonePageblocks {
            node: 0,
            name: "Normal".to_owned(),
            start_pfn: 2 << 12,
            blocks: blocks.concat(),
        };
        let map = PageblockMap { pageblock_order: 12, zones: vec![zone] };
        let mut surveyed = Surveyed { map: Arc::new(map), first_round: None, round_ms: 1, types: None };
        let letters = |surveyed: &Surveyed| -> String {
            gigabytes(surveyed, 1 << 16).iter().map(|gigabyte| gigabyte.state.letter()).collect()
        };
        assert_eq!(letters(&surveyed), "-.rmS--.-", "a request takes pages back from lists");
        let found = gigabytes(&surveyed, 1 << 16);
        assert_eq!(found.iter().map(|g| g.number).collect::<Vec<_>>(), (0..9).collect::<Vec<_>>());
        assert_eq!((found[3].movable, &found[4].unmovable[..]), (u64::from(full) - 90, &[("slab", 7)][..]));
        surveyed.first_round = Some((0, 6));
        assert_eq!(letters(&surveyed), "-.???????");
        assert_eq!(gigabytes(&surveyed, 1 << 30).len(), 33, "a page may be as large");
    }
}
