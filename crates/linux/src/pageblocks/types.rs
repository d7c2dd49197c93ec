//! The migratetypes of pageblocks, by the lists that their free blocks are on.

use std::collections::HashMap;

use freehold::Migratetype;

use super::map::{PageblockMap, ZonePageblocks};

/// The migratetypes of a map's pageblocks, zone by zone; `None` where a pageblock has no free block that tells it.
pub type PageblockTypes = Vec<Vec<Option<Migratetype>>>;

/// Returns the migratetypes of the pageblocks of `map`. `found` are the lists that free blocks are on, each with the number of the
/// block's pageblock.
///
/// A pageblock with free blocks on lists of two types, as before 6.10, has no type here.
pub fn pageblock_types(
    found: impl IntoIterator<Item = (u64, Migratetype)>,
    map: &PageblockMap,
) -> PageblockTypes {
    let mut known: HashMap<u64, Option<Migratetype>> = HashMap::new();
    for (pageblock, kind) in found {
        known.entry(pageblock).and_modify(|kind| *kind = None).or_insert(Some(kind));
    }
    let of_zone = |zone: &ZonePageblocks| {
        let first = zone.start_pfn >> map.pageblock_order;
        (first..).take(zone.blocks.len()).map(|number| known.get(&number).copied().flatten()).collect()
    };
    map.zones.iter().map(of_zone).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pageblocks::Pageblock;

    #[test]
    fn lists_determine_the_type() {
        let zone = |start_pfn, blocks| ZonePageblocks {
            start_pfn,
            blocks: vec![Pageblock::default(); blocks],
            ..ZonePageblocks::default()
        };
        let map = PageblockMap { pageblock_order: 3, zones: vec![zone(8, 2), zone(24, 3)] };
        let (movable, unmovable) = (Migratetype::Movable, Migratetype::Unmovable);
        let found = [(1, movable), (3, unmovable), (4, movable), (4, unmovable), (9, movable)];
        let expected = vec![vec![Some(movable), None], vec![Some(unmovable), None, None]];
        assert_eq!(pageblock_types(found, &map), expected);
    }
}
