//! Free pages in the reserves of a zone, which zoneinfo shows to every user.

use std::path::Path;

use serde::Serialize;

use super::read::{REPORT, copied_rows, node_and_zone, number, read_text};
use crate::error::{Error, ParseError};

/// One zone's free pages that ordinary requests cannot use.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ZoneReserves {
    /// NUMA node.
    pub node: u32,
    /// Name of the zone.
    pub name: String,
    /// Its free pages in reserves.
    pub free: FreeReserves,
}

/// Free pages in reserves. Units: pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct FreeReserves {
    /// In CMA areas, which only movable requests may use (`nr_free_cma`, since Linux 3.7).
    pub cma: u64,
    /// In the `HighAtomic` reserve (`nr_free_highatomic`, since Linux 6.13).
    pub high_atomic: u64,
}

impl FreeReserves {
    /// Returns the sum.
    pub fn pages(self) -> u64 {
        self.cma.saturating_add(self.high_atomic)
    }
}

/// Reads the reserves in `proc/zoneinfo` below `root`.
///
/// # Errors
/// If the file cannot be read or does not parse.
pub fn read_zone_reserves(root: &Path) -> Result<Vec<ZoneReserves>, Error> {
    let path = root.join("proc/zoneinfo");
    parse_zone_reserves(&read_text(&path)?).map_err(|e| e.in_file(&path, REPORT))
}

/// Parses the reserves in the contents of `/proc/zoneinfo`. A kernel that prints no such row has 0.
pub(super) fn parse_zone_reserves(text: &str) -> Result<Vec<ZoneReserves>, ParseError> {
    let mut zones: Vec<ZoneReserves> = Vec::new();
    for (line, row) in copied_rows(text, |_| true)? {
        if row.starts_with("Node ") {
            let (node, name, _) = node_and_zone(line, row)?;
            zones.push(ZoneReserves { node, name: name.to_owned(), free: FreeReserves::default() });
            continue;
        }
        let Some(zone) = zones.last_mut() else { continue };
        let mut words = row.split_ascii_whitespace();
        let field = match words.next() {
            Some("nr_free_cma") => &mut zone.free.cma,
            Some("nr_free_highatomic") => &mut zone.free.high_atomic,
            _ => continue,
        };
        *field = number(line, "free pages", words.next())?;
    }
    Ok(zones)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserves_are_those_of_the_zone_above() {
        let text = "Node 0, zone DMA\n  pages free 7\nNode 1, zone Normal\n      nr_free_cma  4028\n nr_free_highatomic 5\n";
        let zones = parse_zone_reserves(text).unwrap();
        assert_eq!(zones[0].free.pages(), 0);
        assert_eq!((zones[1].node, zones[1].free.cma, zones[1].free.pages()), (1, 4028, 4033));
        assert_eq!(parse_zone_reserves("Node 0, zone DMA\nnr_free_cma many\n").unwrap_err().found, "many");
    }
}
