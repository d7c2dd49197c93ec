//! `/proc/buddyinfo`: free blocks by order.

use std::path::Path;

use freehold_trace::ByOrder;

use super::read::{
    LINE_BREAK, REPORT, copied_rows, ends_with_blank, free_by_order, node_and_zone, number, read_text,
    same_orders, twice,
};
use crate::error::{Error, ParseError};

/// One zone's row of `/proc/buddyinfo`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BuddyZone {
    /// NUMA node.
    pub node: u32,
    /// Name of the zone.
    pub name: String,
    /// Free blocks by order.
    pub free: ByOrder<u64>,
}

/// Reads `proc/buddyinfo` below `root`.
pub fn read_buddyinfo(root: &Path) -> Result<Vec<BuddyZone>, Error> {
    let path = root.join("proc/buddyinfo");
    parse_buddyinfo(&read_text(&path)?).map_err(|e| e.in_file(&path, REPORT))
}

/// Parses the contents of `/proc/buddyinfo`.
///
/// # Errors
///
/// A text that is cut off, a row that does not parse or has fewer orders than the others, a zone that
/// occurs twice, and a text without zones.
pub fn parse_buddyinfo(text: &str) -> Result<Vec<BuddyZone>, ParseError> {
    let mut zones: Vec<BuddyZone> = Vec::new();
    let mut known = None;
    for (line, row) in copied_rows(text, ends_with_blank)?.filter(|(_, row)| !row.trim().is_empty()) {
        let (node, name, rest) = node_and_zone(line, row)?;
        let count = |word: &str| number(line, "free blocks", Some(word)).map(|blocks| (blocks, blocks));
        let free = free_by_order(line, rest, count)?;
        same_orders(&mut known, &free, line, row)?;
        if zones.iter().any(|zone| zone.node == node && zone.name == name) {
            return Err(twice(line, row));
        }
        zones.push(BuddyZone { node, name: name.to_owned(), free });
    }
    if zones.len() == 1 && !text.ends_with('\n') {
        // No other row says how many orders there are.
        return Err(ParseError::new(1, LINE_BREAK, text));
    }
    if zones.is_empty() {
        return Err(ParseError::new(1, "rows of free blocks (`Node 0, zone Normal …`)", "none"));
    }
    Ok(zones)
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

    #[test]
    fn what_is_cut_or_comes_twice_is_an_error() {
        let text = "Node 0, zone DMA 1 2 3\nNode 0, zone Normal 4 5 6\n";
        assert_eq!(parse_buddyinfo(text).unwrap().len(), 2);
        for broken in ["", &text[..text.len() - 1], &text.replace(" 6", ""), &text.replace("DMA", "Normal")] {
            assert!(parse_buddyinfo(broken).is_err(), "{broken}");
        }
    }
}
