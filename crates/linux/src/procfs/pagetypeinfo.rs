//! `/proc/pagetypeinfo`: free blocks by migratetype and order, and pageblocks by migratetype.

use std::path::Path;

use freehold::Order;
use freehold_trace::{ByOrder, ByType, FreeCount, KernelType, KernelTypes, PageTypeInfo};

use super::free_lists::{FreeLists, ZoneFreeLists};
use super::read::{
    REPORT, copied_rows, ends_with_blank, free_by_order, node_and_zone, number, read_given_text, read_text,
    same_orders, twice,
};
use crate::error::{Error, ParseError};

/// Reads `proc/pagetypeinfo` below `root`.
///
/// On a live machine the kernel walks its free lists under the zone lock for each reading.
pub fn read_pagetypeinfo(root: &Path) -> Result<PageTypeInfo, Error> {
    let path = root.join("proc/pagetypeinfo");
    parse_pagetypeinfo(&read_text(&path)?).map_err(|e| e.in_file(&path, REPORT))
}

/// Reads the free lists of `proc/pagetypeinfo` below `root`, also of a copy without its first lines or its second part.
pub fn read_free_lists(root: &Path) -> Result<FreeLists, Error> {
    let path = root.join("proc/pagetypeinfo");
    parse_free_lists(&read_text(&path)?).map_err(|e| e.in_file(&path, REPORT))
}

/// Reads a copy of `/proc/pagetypeinfo`.
pub(crate) fn read_pagetypeinfo_file(path: &Path) -> Result<PageTypeInfo, Error> {
    parse_pagetypeinfo(&read_given_text(path)?).map_err(|e| e.in_file(path, REPORT))
}

/// Parses the contents of `/proc/pagetypeinfo`.
///
/// The order of the rows is the kernel's own numbering of migratetypes, which depends on its
/// configuration: see [`PageTypeInfo::types`]. Types that are none of Linux's are taken by their name. Counts
/// of mixed blocks are left out.
///
/// # Errors
///
/// A word that cannot be a migratetype, more than 19 orders, a row that does not parse, and a text that is cut
/// off: without its last line break, the order of a pageblock or a row of a type, or with rows of different
/// lengths.
pub fn parse_pagetypeinfo(text: &str) -> Result<PageTypeInfo, ParseError> {
    parse_free_lists(text)?.whole()
}

/// Parses the free lists in the contents of `/proc/pagetypeinfo`, with what the text says about pageblocks.
///
/// # Errors
///
/// Those of [`parse_pagetypeinfo`], except that the order of a pageblock and the table of pageblocks may be missing.
pub fn parse_free_lists(text: &str) -> Result<FreeLists, ParseError> {
    let mut tables = Tables::default();
    let mut section = Section::None;
    let mut lines = 0;
    for (line, row) in copied_rows(text, ends_with_blank)? {
        lines = line;
        if let Some(order) = row.strip_prefix("Page block order:") {
            tables.pageblock_order = Some(pageblock_order(line, order)?);
        } else if row.starts_with("Free pages count per migrate type") {
            section = Section::Free;
        } else if let Some(names) = row.strip_prefix("Number of blocks type") {
            let types = KernelTypes::from_names(names.split_ascii_whitespace());
            section = Section::Blocks(types.map_err(|name| no_type(line, name))?);
        } else if row.starts_with("Number of mixed blocks") {
            section = Section::None;
        } else if row.starts_with("Node") {
            match &section {
                Section::Free => tables.take_free(line, row)?,
                Section::Blocks(types) => tables.take_blocks(types, line, row)?,
                Section::None if row.contains(", type ") => tables.take_free(line, row)?,
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
    Blocks(KernelTypes),
}

fn pageblock_order(line: u64, text: &str) -> Result<u8, ParseError> {
    let order = number(line, "the order of a pageblock", Some(text.trim()))?;
    match u8::try_from(order) {
        Ok(order) if Order::new(order).is_some() => Ok(order),
        _ => Err(ParseError::new(line, format!("a pageblock order of at most {}", Order::MAX), text)),
    }
}

fn no_type(line: u64, name: &str) -> ParseError {
    ParseError::new(line, "the name of a migratetype, each once", name)
}

/// The tables read so far.
#[derive(Default)]
struct Tables {
    pageblock_order: Option<u8>,
    /// The types in the order of the first zone's rows.
    types: KernelTypes,
    zones: Vec<Zone>,
    /// How many orders the rows have.
    orders: Option<usize>,
}

/// A zone read so far.
struct Zone {
    node: u32,
    name: String,
    /// By the place of the type in [`Tables::types`].
    free: Vec<Option<ByOrder<FreeCount>>>,
    /// The types of the row, and their pageblocks in its order.
    blocks: Option<(KernelTypes, Vec<u64>)>,
}

impl Tables {
    /// Returns the entry of a zone, which is added if it is new.
    fn zone(&mut self, node: u32, name: &str) -> &mut Zone {
        let at = self.zones.iter().position(|z| z.node == node && z.name == name).unwrap_or_else(|| {
            self.zones.push(Zone { node, name: name.to_owned(), free: Vec::new(), blocks: None });
            self.zones.len() - 1
        });
        &mut self.zones[at]
    }

    fn take_free(&mut self, line: u64, row: &str) -> Result<(), ParseError> {
        let (node, zone, rest) = node_and_zone(line, row)?;
        let rest = rest.trim_start_matches(',').trim_start();
        let rest = rest.strip_prefix("type").ok_or_else(|| ParseError::new(line, "`type NAME`", rest))?;
        let (name, counts) = rest.trim_start().split_once(' ').unwrap_or((rest, ""));
        let count = |word: &str| {
            let (capped, digits) = word.strip_prefix('>').map_or((false, word), |digits| (true, digits));
            let blocks = number(line, "free blocks", Some(digits))?;
            Ok((FreeCount { blocks, capped }, blocks))
        };
        let counts = free_by_order(line, counts, count)?;
        same_orders(&mut self.orders, &counts, line, row)?;
        if self.types.find(name).is_none() {
            self.types.add(name).ok_or_else(|| no_type(line, name))?;
        }
        let at = self.types.iter().position(|kind| kind.name() == name).unwrap_or_default();
        let free = &mut self.zone(node, zone).free;
        free.resize(free.len().max(at + 1), None);
        if free[at].replace(counts).is_some() {
            return Err(twice(line, row));
        }
        Ok(())
    }

    fn take_blocks(&mut self, types: &KernelTypes, line: u64, row: &str) -> Result<(), ParseError> {
        let (node, zone, rest) = node_and_zone(line, row)?;
        let mut words = rest.split_ascii_whitespace();
        let blocks = types.iter().map(|_| number(line, "pageblocks", words.next()));
        let blocks = blocks.collect::<Result<Vec<_>, _>>()?;
        if words.next().is_some() {
            return Err(ParseError::new(line, format!("pageblocks of {} types", types.len()), row));
        }
        if self.zone(node, zone).blocks.replace((types.clone(), blocks)).is_some() {
            return Err(twice(line, row));
        }
        Ok(())
    }

    fn finish(self, lines: u64) -> Result<FreeLists, ParseError> {
        if self.zones.is_empty() {
            let rows = "rows of free blocks (`Node 0, zone Normal, type Movable …`)";
            return Err(ParseError::new(lines, rows, "none"));
        }
        let largest = self.orders.and_then(|orders| Order::new(orders as u8 - 1)).unwrap_or_default();
        let zones = self.zones.into_iter().map(|zone| zone.finish(&self.types, largest, lines));
        let zones = zones.collect::<Result<_, _>>()?;
        Ok(FreeLists { pageblock_order: self.pageblock_order, types: self.types, zones, lines })
    }
}

impl Zone {
    fn finish(self, types: &KernelTypes, largest: Order, lines: u64) -> Result<ZoneFreeLists, ParseError> {
        let title = format!("node {}, zone {}", self.node, self.name);
        let missing = |what: &str, kind: &KernelType| {
            ParseError::new(lines, format!("{what} of type {kind} of {title}"), "none")
        };
        let mut free = ByType::new(types, ByOrder::new(largest));
        let mut blocks = self.blocks.as_ref().map(|_| ByType::new(types, 0));
        for (at, kind) in types.iter().enumerate() {
            let counts = self.free.get(at).copied().flatten();
            free[kind.index()] = counts.ok_or_else(|| missing("free blocks", kind))?;
            if let (Some(blocks), Some((names, counted))) = (&mut blocks, &self.blocks) {
                let at = names.iter().position(|name| name.name() == kind.name());
                let count = at.and_then(|at| counted.get(at).copied());
                blocks[kind.index()] = count.ok_or_else(|| missing("pageblocks", kind))?;
            }
        }
        Ok(ZoneFreeLists { node: self.node, name: self.name, free, blocks })
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
        assert_eq!(info.types, KernelTypes::from_names(["Unmovable", "Movable", "Isolate"]).unwrap());
        let zone = &info.zones[0];
        assert_eq!(zone.free[1][0], FreeCount { blocks: 100_000, capped: true });
        assert_eq!(zone.free[1][10], FreeCount { blocks: 752, capped: false });
        assert_eq!(zone.blocks[..], [58, 654, 0, 0, 0, 2]);
    }

    #[test]
    fn a_type_that_a_vendor_added_is_taken_by_its_name() {
        let info = parse_pagetypeinfo(&TEXT.replace("Isolate", " Sticky")).unwrap();
        assert_eq!(info.types[2].name(), "Sticky");
        let zone = &info.zones[0];
        assert_eq!((zone.free.len(), zone.blocks[info.types[2].index()]), (7, 2));
        assert!(parse_pagetypeinfo(&TEXT.replacen("Isolate", " Sticky", 1)).is_err(), "it has no pageblocks");
    }

    #[test]
    fn what_is_unknown_is_an_error() {
        let error = parse_pagetypeinfo(&TEXT.replace("Isolate", "Isol\u{1b}")).unwrap_err();
        assert_eq!((error.line, error.found.as_str()), (7, "Isol\u{fffd}"));
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
        assert_eq!(parse_pagetypeinfo(TEXT.trim_end_matches('\n')), parse_pagetypeinfo(TEXT));
    }

    #[test]
    fn free_lists_need_no_first_lines_and_no_pageblocks() {
        let whole = parse_free_lists(TEXT).unwrap();
        let headless = TEXT.split_once("Free pages count").unwrap().1;
        for text in [format!("Free pages count{headless}"), headless.split_once('\n').unwrap().1.to_owned()] {
            let read = parse_free_lists(&text).unwrap();
            assert_eq!((read.pageblock_order, &read.zones), (None, &whole.zones));
            assert!(parse_pagetypeinfo(&text).unwrap_err().expected.contains("Page block order"));
        }
        let without_blocks = parse_free_lists(TEXT.split_once("Number of blocks").unwrap().0).unwrap();
        assert_eq!(
            (&without_blocks.zones[0].free, &without_blocks.zones[0].blocks),
            (&whole.zones[0].free, &None)
        );
        let quoted = format!("> {}\n", TEXT.trim_end_matches('\n').replace('\n', "\n> "));
        assert_eq!(parse_free_lists(&quoted), Ok(whole));
    }
}
