//! `/proc/buddyinfo`: free blocks by order.

use std::path::Path;

use freehold::MAX_ORDERS;

use super::read::{REPORT, node_and_zone, number, read_text};
use crate::error::{Error, ParseError};

/// One zone's row of `/proc/buddyinfo`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BuddyZone {
    /// NUMA node.
    pub node: u32,
    /// Name of the zone.
    pub name: String,
    /// Free blocks by order.
    pub free: [u64; MAX_ORDERS],
}

/// Reads `proc/buddyinfo` below `root`.
pub fn read_buddyinfo(root: &Path) -> Result<Vec<BuddyZone>, Error> {
    let path = root.join("proc/buddyinfo");
    parse_buddyinfo(&read_text(&path)?).map_err(|e| e.in_file(&path, REPORT))
}

/// Parses the contents of `/proc/buddyinfo`.
pub fn parse_buddyinfo(text: &str) -> Result<Vec<BuddyZone>, ParseError> {
    (1..)
        .zip(text.lines())
        .filter(|(_, row)| !row.trim().is_empty())
        .map(|(line, row)| zone(line, row))
        .collect()
}

fn zone(line: u64, row: &str) -> Result<BuddyZone, ParseError> {
    let (node, name, rest) = node_and_zone(line, row)?;
    let mut free = [0; MAX_ORDERS];
    for (order, word) in rest.split_ascii_whitespace().enumerate() {
        let count = free.get_mut(order).ok_or_else(|| ParseError::new(line, "at most 11 orders", row))?;
        *count = number(line, "free blocks", Some(word))?;
    }
    Ok(BuddyZone { node, name: name.to_owned(), free })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read() {
        let zones = parse_buddyinfo("Node 1, zone   Normal   2568   1495      0\n").unwrap();
        assert_eq!((zones[0].node, zones[0].name.as_str()), (1, "Normal"));
        assert_eq!(zones[0].free[..3], [2568, 1495, 0]);
        assert_eq!(parse_buddyinfo("Node 1, zone Normal 1 x\n").unwrap_err().found, "x");
        assert!(parse_buddyinfo("Knoten 1\n").is_err());
    }
}
