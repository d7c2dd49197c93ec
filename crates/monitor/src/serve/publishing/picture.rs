//! The map as the page draws it.

use freehold_linux::pageblocks::UnmovableKind;
use serde::Serialize;

use crate::model::{Gigabyte, GigabyteState, Holds, Map, ZoneMap};

/// The most cells of a zone: a pageblock each on a machine of 32 GiB.
const MOST_CELLS: usize = 1 << 14;

/// The most gigabytes whose pages are listed.
const MOST_GIGABYTES: usize = 1024;

/// The map as the page draws it: letters for what cells hold, and for who holds most of them.
#[derive(Serialize)]
pub(super) struct Picture<'m> {
    /// Pageblocks of a gigabyte.
    in_gigabyte: u64,
    /// The letter and the name of each holder.
    holders: [(char, &'static str); UnmovableKind::COUNT],
    zones: Vec<ZonePicture<'m>>,
    /// Every gigabyte; empty if there are too many to be looked at.
    gigabytes: &'m [Gigabyte],
    gigabyte_totals: [(&'static str, usize); GigabyteState::ALL.len()],
}

/// One zone's cells.
#[derive(Serialize)]
struct ZonePicture<'m> {
    node: u32,
    name: &'m str,
    first_block: u64,
    blocks: usize,
    /// Pageblocks of a cell.
    in_cell: usize,
    /// A letter of [`Holds::letter`] for each cell.
    cells: String,
    /// A letter for each cell's holder; a blank where there is none.
    holders: String,
    totals: [(&'static str, u32); Holds::ALL.len()],
}

impl<'m> Picture<'m> {
    pub(super) fn new(map: &'m Map) -> Self {
        let count = |state| map.gigabytes.iter().filter(|gigabyte| gigabyte.state == state).count();
        Self {
            in_gigabyte: map.in_gigabyte,
            holders: UnmovableKind::ALL.map(|why| (of_holder(why), why.name())),
            zones: map.zones.iter().map(ZonePicture::new).collect(),
            gigabytes: if map.gigabytes.len() > MOST_GIGABYTES { &[] } else { &map.gigabytes },
            gigabyte_totals: GigabyteState::ALL.map(|state| (state.name(), count(state))),
        }
    }
}

impl<'m> ZonePicture<'m> {
    fn new(zone: &'m ZoneMap) -> Self {
        let in_cell = zone.blocks.len().div_ceil(MOST_CELLS).max(1);
        let totals = zone.totals();
        let holder = |unmovable: &[Option<UnmovableKind>]| {
            unmovable.iter().rev().flatten().next().map_or(' ', |&why| of_holder(why))
        };
        Self {
            node: zone.node,
            name: &zone.name,
            first_block: zone.first_block,
            blocks: zone.blocks.len(),
            in_cell,
            cells: zone.cells(MOST_CELLS).iter().map(worst).collect(),
            holders: zone.holders.chunks(in_cell).map(holder).collect(),
            totals: std::array::from_fn(|at| (Holds::ALL[at].name(), totals[at])),
        }
    }
}

/// Returns a holder's letter.
fn of_holder(why: UnmovableKind) -> char {
    char::from(b'a' + why as u8)
}

/// Returns the letter of the last kind of [`Holds::ALL`] that occurs in a cell.
fn worst(counts: &[u32; Holds::ALL.len()]) -> char {
    let last = counts.iter().rposition(|&count| count > 0).unwrap_or_default();
    Holds::ALL[last].letter()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(blocks: Vec<Holds>, holders: Vec<Option<UnmovableKind>>) -> Map {
        let zone = ZoneMap { name: "Normal".to_owned(), blocks, holders, ..ZoneMap::default() };
        Map { zones: vec![zone], in_gigabyte: 512, ..Map::default() }
    }

    #[test]
    fn a_cell_shows_what_is_worst_in_it() {
        let mut blocks = vec![Holds::Free; 2 * MOST_CELLS];
        blocks[0] = Holds::Mixed;
        blocks[3] = Holds::Movable;
        let mut holders = vec![None; 2 * MOST_CELLS];
        holders[0] = Some(UnmovableKind::Kernel);
        let map = map(blocks, holders);
        let picture = Picture::new(&map);
        let zone = &picture.zones[0];
        assert!(zone.cells.starts_with("xm..") && zone.cells.len() == MOST_CELLS, "{}", zone.in_cell);
        assert_eq!((zone.in_cell, zone.holders.trim_end()), (2, "c"));
        assert_eq!(picture.holders[UnmovableKind::Kernel as usize], ('c', "kernel"));
        assert!(zone.totals.contains(&("free", 2 * MOST_CELLS as u32 - 2)), "{:?}", zone.totals);
    }

    #[test]
    fn gigabytes_are_listed_up_to_a_limit() {
        let gigabyte = |number| Gigabyte {
            node: 0,
            zone: "Normal".to_owned(),
            number,
            state: GigabyteState::Unmovable,
            free: 1,
            listed: 0,
            movable: 0,
            reclaimable: 0,
            unmovable: vec![("slab", 7)],
        };
        let shown = |gigabytes: usize| {
            let mut seen = map(vec![Holds::Free], vec![None]);
            seen.gigabytes = (0..gigabytes as u64).map(gigabyte).collect();
            let picture = Picture::new(&seen);
            assert!(picture.gigabyte_totals.contains(&("unmovable", gigabytes)));
            picture.gigabytes.len()
        };
        assert_eq!([2, MOST_GIGABYTES, MOST_GIGABYTES + 1].map(shown), [2, MOST_GIGABYTES, 0]);
    }
}
