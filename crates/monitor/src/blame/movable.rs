//! The pageblocks that nobody keeps, as compaction can move whatever is in them.

use freehold_linux::pageblocks::{PageblockMap, ZonePageblocks};
use freehold_measure::grouped;
use serde::Serialize;

use crate::verdict::Mobility;

/// Pageblocks in use with nothing in them that compaction cannot move. A single compound page as large as the pageblock is not counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct MovableOnly {
    /// Pageblocks.
    pub pageblocks: u64,
    /// Their pages in use.
    pub pages: u64,
}

impl MovableOnly {
    /// Counts those of the `wanted` zones.
    pub fn of(map: &PageblockMap, mobility: Mobility, wanted: impl Fn(&ZonePageblocks) -> bool) -> Self {
        let mut sum = Self::default();
        if !mobility.compaction {
            return sum;
        }
        for block in map.zones.iter().filter(|zone| wanted(zone)).flat_map(|zone| &zone.blocks) {
            let stays = block.stuck() > u32::from(block.listed)
                || block.whole_folio
                || (block.unevictable > 0 && !mobility.unevictable);
            if !stays && block.movable() > 0 {
                sum.pageblocks += 1;
                sum.pages += u64::from(block.movable());
            }
        }
        sum
    }

    /// Returns a sentence; nothing if there is no such pageblock.
    pub fn text(&self) -> String {
        if self.pageblocks == 0 {
            return String::new();
        }
        let Self { pageblocks, pages } = *self;
        format!(
            "Movable memory only: {} pageblocks with {} pages; compaction moves it, and nobody keeps these.\n",
            grouped(pageblocks),
            grouped(pages)
        )
    }
}

#[cfg(test)]
mod tests {
    use freehold_linux::pageblocks::{Pageblock, UnmovableKind};

    use super::*;

    #[test]
    fn one_page_that_stays_is_enough_to_be_left_out() {
        let unmovable = |why: UnmovableKind, pages: u16, listed: u16| {
            let mut block = Pageblock { anon: 5, listed, ..Pageblock::default() };
            block.unmovable[why as usize] = pages;
            block
        };
        let blocks = vec![
            Pageblock { anon: 100, file_busy: 20, ..Pageblock::default() },
            unmovable(UnmovableKind::Kernel, 3, 3),
            unmovable(UnmovableKind::Kernel, 3, 2),
            unmovable(UnmovableKind::Pinned, 1, 0),
            Pageblock { unevictable: 7, ..Pageblock::default() },
            Pageblock { anon: 512, whole_folio: true, ..Pageblock::default() },
            Pageblock { free: 512, ..Pageblock::default() },
        ];
        let zone = ZonePageblocks { node: 0, name: "Normal".to_owned(), start_pfn: 0, blocks };
        let map = PageblockMap { pageblock_order: 9, zones: vec![zone] };
        let of = |mobility| {
            let found = MovableOnly::of(&map, mobility, |_| true);
            (found.pageblocks, found.pages)
        };
        assert_eq!(of(Mobility::default()), (3, 132));
        assert_eq!(of(Mobility { unevictable: false, ..Mobility::default() }), (2, 125));
        assert_eq!(of(Mobility { compaction: false, ..Mobility::default() }), (0, 0));
        assert_eq!(MovableOnly::of(&map, Mobility::default(), |_| false).text(), "");
        let text = MovableOnly { pageblocks: 12, pages: 132 }.text();
        assert!(text.starts_with("Movable memory only: 12 pageblocks with 132 pages"), "{text}");
    }
}
