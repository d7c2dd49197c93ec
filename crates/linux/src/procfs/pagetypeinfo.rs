//! `/proc/pagetypeinfo`: free blocks by migratetype and order, and pageblocks by migratetype.

use std::path::Path;

use freehold::{MIGRATETYPES, Migratetype, NR_PAGE_ORDERS};
use freehold_trace::{FreeCount, PageTypeInfo, PageTypeZone};

use super::read::{
    REPORT, free_by_order, node_and_zone, number, read_given_text, read_text, rows, same_orders, twice,
};
use crate::error::{Error, ParseError};

/// Reads `proc/pagetypeinfo` below `root`.
///
/// On a live machine the kernel walks its free lists under the zone lock for each reading.
pub fn read_pagetypeinfo(root: &Path) -> Result<PageTypeInfo, Error> {
    let path = root.join("proc/pagetypeinfo");
    parse_pagetypeinfo(&read_text(&path)?).map_err(|e| e.in_file(&path, REPORT))
}

/// Reads a copy of `/proc/pagetypeinfo`.
pub(crate) fn read_pagetypeinfo_file(path: &Path) -> Result<PageTypeInfo, Error> {
    parse_pagetypeinfo(&read_given_text(path)?).map_err(|e| e.in_file(path, REPORT))
}

/// Parses the contents of `/proc/pagetypeinfo`.
///
/// The order of the rows is the kernel's own numbering of migratetypes, which depends on its
/// configuration: see [`PageTypeInfo::types`]. Counts of mixed blocks are left out.
///
/// # Errors
///
/// An unknown migratetype, more than 11 orders, a row that does not parse, and a text that is cut off:
/// without its last line break, the order of a pageblock or a row of a type, or with rows of different
/// lengths.
pub fn parse_pagetypeinfo(text: &str) -> Result<PageTypeInfo, ParseError> {
    let mut tables = Tables::default();
    let mut section = Section::None;
    let mut lines = 0;
    for (line, row) in rows(text)? {
        lines = line;
        if let Some(order) = row.strip_prefix("Page block order:") {
            tables.pageblock_order = Some(pageblock_order(line, order)?);
        } else if row.starts_with("Free pages count per migrate type") {
            section = Section::Free;
        } else if let Some(names) = row.strip_prefix("Number of blocks type") {
            let types = names.split_ascii_whitespace().map(|name| migratetype(line, name));
            section = Section::Blocks(types.collect::<Result<_, _>>()?);
        } else if row.starts_with("Number of mixed blocks") {
            section = Section::None;
        } else if row.starts_with("Node") {
            match &section {
                Section::Free => tables.take_free(line, row)?,
                Section::Blocks(types) => tables.take_blocks(types, line, row)?,
                Section::None => {}
            }
        }
    }
    tables.finish(lines)
}

/// The table of the file that is being read.
enum Section {
    None,
    Free,
    Blocks(Vec<Migratetype>),
}

fn pageblock_order(line: u64, text: &str) -> Result<u8, ParseError> {
    let order = number(line, "the order of a pageblock", Some(text.trim()))?;
    match u8::try_from(order) {
        Ok(order) if usize::from(order) < NR_PAGE_ORDERS => Ok(order),
        _ => Err(ParseError::new(line, "a pageblock order of at most 10", text)),
    }
}

fn migratetype(line: u64, name: &str) -> Result<Migratetype, ParseError> {
    Migratetype::from_name(name)
        .ok_or_else(|| ParseError::new(line, "one of Linux's migratetypes (Unmovable … Isolate)", name))
}

/// The tables read so far.
#[derive(Default)]
struct Tables {
    pageblock_order: Option<u8>,
    /// The types in the order of the first zone's rows.
    types: Vec<Migratetype>,
    zones: Vec<Zone>,
    /// How many orders the rows have.
    orders: Option<usize>,
}

/// A zone read so far.
struct Zone {
    node: u32,
    name: String,
    free: [Option<[FreeCount; NR_PAGE_ORDERS]>; MIGRATETYPES],
    blocks: Option<[u64; MIGRATETYPES]>,
}

impl Tables {
    /// Returns the entry of a zone, which is added if it is new.
    fn zone(&mut self, node: u32, name: &str) -> &mut Zone {
        let at = self.zones.iter().position(|z| z.node == node && z.name == name).unwrap_or_else(|| {
            self.zones.push(Zone { node, name: name.to_owned(), free: [None; MIGRATETYPES], blocks: None });
            self.zones.len() - 1
        });
        &mut self.zones[at]
    }

    fn take_free(&mut self, line: u64, row: &str) -> Result<(), ParseError> {
        let (node, zone, rest) = node_and_zone(line, row)?;
        let rest = rest.trim_start_matches(',').trim_start();
        let rest = rest.strip_prefix("type").ok_or_else(|| ParseError::new(line, "`type NAME`", rest))?;
        let (name, counts) = rest.trim_start().split_once(' ').unwrap_or((rest, ""));
        let kind = migratetype(line, name)?;
        let count = |word: &str| {
            let (capped, digits) = word.strip_prefix('>').map_or((false, word), |digits| (true, digits));
            let blocks = number(line, "free blocks", Some(digits))?;
            Ok((FreeCount { blocks, capped }, blocks))
        };
        let (counts, orders) = free_by_order(line, counts, count)?;
        same_orders(&mut self.orders, orders, line, row)?;
        if self.zone(node, zone).free[kind.index()].replace(counts).is_some() {
            return Err(twice(line, row));
        }
        if !self.types.contains(&kind) {
            self.types.push(kind);
        }
        Ok(())
    }

    fn take_blocks(&mut self, types: &[Migratetype], line: u64, row: &str) -> Result<(), ParseError> {
        let (node, zone, rest) = node_and_zone(line, row)?;
        let mut blocks = [0; MIGRATETYPES];
        let mut words = rest.split_ascii_whitespace();
        for kind in types {
            blocks[kind.index()] = number(line, "pageblocks", words.next())?;
        }
        if words.next().is_some() {
            return Err(ParseError::new(line, format!("pageblocks of {} types", types.len()), row));
        }
        if self.zone(node, zone).blocks.replace(blocks).is_some() {
            return Err(twice(line, row));
        }
        Ok(())
    }

    fn finish(self, lines: u64) -> Result<PageTypeInfo, ParseError> {
        let missing = |what: &str| ParseError::new(lines, what, "none");
        if self.zones.is_empty() {
            return Err(missing("rows of free blocks (`Node 0, zone Normal, type Movable …`)"));
        }
        let pageblock_order = self.pageblock_order.ok_or_else(|| missing("a row `Page block order:`"))?;
        let mut zones = Vec::new();
        for zone in self.zones {
            let title = format!("node {}, zone {}", zone.node, zone.name);
            let mut free = [[FreeCount::default(); NR_PAGE_ORDERS]; MIGRATETYPES];
            for kind in &self.types {
                free[kind.index()] = zone.free[kind.index()]
                    .ok_or_else(|| missing(&format!("free blocks of type {} of {title}", kind.name())))?;
            }
            let blocks = zone.blocks.ok_or_else(|| missing(&format!("the pageblocks of {title}")))?;
            zones.push(PageTypeZone { node: zone.node, name: zone.name, free, blocks });
        }
        Ok(PageTypeInfo {
            pageblock_order,
            types: self.types.iter().map(|&kind| kind as u8).collect(),
            zones,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
Page block order: 9
Pages per block:  512

Free pages count per migrate type at order       0      1      2      3      4      5      6      7      8      9     10 
Node    0, zone   Normal, type    Unmovable      1      2      3      0      0      0      0      0      0      0      0 
Node    0, zone   Normal, type      Movable >100000      1      0      0      0      0      0      0      0      0    752 
Node    0, zone   Normal, type      Isolate      0      0      0      0      0      0      0      0      0      0      0 

Number of blocks type     Unmovable      Movable      Isolate 
Node 0, zone   Normal           58          654            2 

Number of mixed blocks    Unmovable      Movable      Isolate 
Node 0, zone   Normal            9            9            9 
";

    #[test]
    fn the_tables_are_read() {
        let info = parse_pagetypeinfo(TEXT).unwrap();
        assert_eq!(info.pageblock_order, 9);
        assert_eq!(info.types, [0, 1, 5]);
        let zone = &info.zones[0];
        assert_eq!(zone.free[1][0], FreeCount { blocks: 100_000, capped: true });
        assert_eq!(zone.free[1][10], FreeCount { blocks: 752, capped: false });
        assert_eq!(zone.blocks, [58, 654, 0, 0, 0, 2]);
    }

    #[test]
    fn what_is_unknown_is_an_error() {
        let error = parse_pagetypeinfo(&TEXT.replace("Isolate", "Sticky")).unwrap_err();
        assert_eq!((error.line, error.found.as_str()), (7, "Sticky"));
        let error = parse_pagetypeinfo(&TEXT.replace("    752 ", "    752 4 ")).unwrap_err();
        assert_eq!(error.line, 6);
        assert!(parse_pagetypeinfo("").is_err());
    }

    #[test]
    fn what_is_cut_or_comes_twice_is_an_error() {
        let pageblocks = "Node 0, zone   Normal           58          654            2 \n";
        for (whole, left) in [
            ("Page block order: 9\n", ""),
            ("0    752 \n", "0 \n"),
            (pageblocks, ""),
            (pageblocks, "Node 0, zone   Normal           58          654 \n"),
            ("Node    0, zone   Normal, type      Isolate", "Node    0, zone   Normal, type      Movable"),
            ("Node    0, zone   Normal, type    Unmovable", "Node    1, zone   Normal, type    Unmovable"),
        ] {
            assert!(
                TEXT.contains(whole) && parse_pagetypeinfo(&TEXT.replacen(whole, left, 1)).is_err(),
                "{whole}"
            );
        }
        assert!(parse_pagetypeinfo(TEXT.trim_end()).is_err());
    }
}
