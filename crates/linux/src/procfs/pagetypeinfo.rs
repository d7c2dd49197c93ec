//! `/proc/pagetypeinfo`: free blocks by migratetype and order, and pageblocks by migratetype.

use std::path::Path;

use freehold::{MAX_ORDERS, MIGRATETYPES, Migratetype};
use freehold_trace::{FreeCount, PageTypeInfo, PageTypeZone};

use super::read::{REPORT, node_and_zone, number, read_text};
use crate::error::{Error, ParseError};

/// Reads `proc/pagetypeinfo` below `root`.
///
/// On a live machine the kernel walks its free lists under the zone lock for this.
pub fn read_pagetypeinfo(root: &Path) -> Result<PageTypeInfo, Error> {
    read_pagetypeinfo_file(&root.join("proc/pagetypeinfo"))
}

/// Reads a file with the contents of `/proc/pagetypeinfo`.
pub(crate) fn read_pagetypeinfo_file(path: &Path) -> Result<PageTypeInfo, Error> {
    parse_pagetypeinfo(&read_text(path)?).map_err(|e| e.in_file(path, REPORT))
}

/// Parses the contents of `/proc/pagetypeinfo`.
///
/// The rows tell the kernel's own numbering of migratetypes, which depends on how it was
/// built: see [`PageTypeInfo::types`]. Counts of mixed blocks are left out.
///
/// # Errors
///
/// A migratetype that is not known here, more than 11 orders, or a row that does not parse.
pub fn parse_pagetypeinfo(text: &str) -> Result<PageTypeInfo, ParseError> {
    let mut info = PageTypeInfo::default();
    let mut section = Section::None;
    let mut lines = 0;
    for (line, row) in (1..).zip(text.lines()) {
        lines = line;
        if let Some(order) = row.strip_prefix("Page block order:") {
            info.pageblock_order = pageblock_order(line, order)?;
        } else if row.starts_with("Free pages count per migrate type") {
            section = Section::Free;
        } else if let Some(names) = row.strip_prefix("Number of blocks type") {
            let types = names.split_ascii_whitespace().map(|name| migratetype(line, name));
            section = Section::Blocks(types.collect::<Result<_, _>>()?);
        } else if row.starts_with("Number of mixed blocks") {
            section = Section::None;
        } else if row.starts_with("Node") {
            match &section {
                Section::Free => take_free(&mut info, line, row)?,
                Section::Blocks(types) => take_blocks(&mut info, types, line, row)?,
                Section::None => {}
            }
        }
    }
    if info.zones.is_empty() {
        return Err(ParseError::new(
            lines,
            "rows of free blocks (`Node 0, zone Normal, type Movable …`)",
            "none",
        ));
    }
    Ok(info)
}

/// Which of the file's tables is being read.
enum Section {
    None,
    Free,
    Blocks(Vec<Migratetype>),
}

fn pageblock_order(line: u64, text: &str) -> Result<u8, ParseError> {
    let order = number(line, "the order of a pageblock", Some(text.trim()))?;
    match u8::try_from(order) {
        Ok(order) if usize::from(order) < MAX_ORDERS => Ok(order),
        _ => Err(ParseError::new(line, "a pageblock order of at most 10", text)),
    }
}

fn migratetype(line: u64, name: &str) -> Result<Migratetype, ParseError> {
    Migratetype::from_name(name)
        .ok_or_else(|| ParseError::new(line, "one of Linux's migratetypes (Unmovable … Isolate)", name))
}

/// The entry of a zone, made where it is new.
fn zone_entry<'a>(info: &'a mut PageTypeInfo, node: u32, name: &str) -> &'a mut PageTypeZone {
    let at = info.zones.iter().position(|z| z.node == node && z.name == name).unwrap_or_else(|| {
        info.zones.push(PageTypeZone { node, name: name.to_owned(), ..PageTypeZone::default() });
        info.zones.len() - 1
    });
    &mut info.zones[at]
}

fn take_free(info: &mut PageTypeInfo, line: u64, row: &str) -> Result<(), ParseError> {
    let (node, zone, rest) = node_and_zone(line, row)?;
    let rest = rest.trim_start_matches(',').trim_start();
    let rest = rest.strip_prefix("type").ok_or_else(|| ParseError::new(line, "`type NAME`", rest))?;
    let mut words = rest.split_ascii_whitespace();
    let kind = migratetype(line, words.next().unwrap_or(""))?;
    let mut counts = [FreeCount::default(); MAX_ORDERS];
    let mut orders = 0;
    for word in words {
        let Some(count) = counts.get_mut(orders) else {
            return Err(ParseError::new(line, "at most 11 orders", row));
        };
        let (capped, digits) = word.strip_prefix('>').map_or((false, word), |digits| (true, digits));
        *count = FreeCount { blocks: number(line, "free blocks", Some(digits))?, capped };
        orders += 1;
    }
    if orders == 0 {
        return Err(ParseError::new(line, "free blocks by order", row));
    }
    zone_entry(info, node, zone).free[kind.index()] = counts;
    if !info.types.contains(&(kind as u8)) {
        info.types.push(kind as u8);
    }
    Ok(())
}

fn take_blocks(
    info: &mut PageTypeInfo,
    types: &[Migratetype],
    line: u64,
    row: &str,
) -> Result<(), ParseError> {
    let (node, zone, rest) = node_and_zone(line, row)?;
    let mut blocks = [0; MIGRATETYPES];
    let mut words = rest.split_ascii_whitespace();
    for kind in types {
        blocks[kind.index()] = number(line, "pageblocks", words.next())?;
    }
    zone_entry(info, node, zone).blocks = blocks;
    Ok(())
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
}
