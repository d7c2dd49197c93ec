//! `/proc/vmallocinfo`: pages of vmalloc areas by caller.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::read::{REPORT, number, read_text, rows};
use crate::error::{Error, ParseError};

/// The vmalloc areas of one caller.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct VmallocCaller {
    /// The function that allocated the areas.
    pub caller: String,
    /// Pages of its areas.
    pub pages: u64,
}

/// Reads `proc/vmallocinfo` below `root`. Returns the callers, those with the most pages first.
///
/// # Errors
///
/// [`Error::NotRoot`] if access is refused; [`Error::Malformed`] if the file does not parse.
pub fn read_vmallocinfo(root: &Path) -> Result<Vec<VmallocCaller>, Error> {
    let path = root.join("proc/vmallocinfo");
    parse_vmallocinfo(&read_text(&path)?).map_err(|e| e.in_file(&path, REPORT))
}

/// Parses the contents of `/proc/vmallocinfo`. Returns the callers, those with the most pages first.
///
/// Areas without pages (`ioremap`) are left out.
pub fn parse_vmallocinfo(text: &str) -> Result<Vec<VmallocCaller>, ParseError> {
    let mut by_caller: BTreeMap<&str, u64> = BTreeMap::new();
    for (line, row) in rows(text)?.filter(|(_, row)| !row.trim().is_empty()) {
        let mut words = row.split_ascii_whitespace();
        let range = words.next().unwrap_or("");
        if !range.starts_with("0x") || !range.contains('-') {
            return Err(ParseError::new(line, "an area `0x…-0x…`", row));
        }
        number(line, "the area's size", words.next())?;
        let caller = words.clone().next().filter(|word| word.contains("+0x"));
        let caller = caller.map_or("?", |word| word.split('+').next().unwrap_or(word));
        if let Some(pages) = words.find_map(|word| word.strip_prefix("pages=")) {
            let pages = number(line, "pages=", Some(pages))?;
            let sum = by_caller.entry(caller).or_default();
            *sum = sum.saturating_add(pages);
        }
    }
    let callers = by_caller.into_iter();
    let mut callers: Vec<_> =
        callers.map(|(caller, pages)| VmallocCaller { caller: caller.to_owned(), pages }).collect();
    callers.sort_by(|a, b| b.pages.cmp(&a.pages).then_with(|| a.caller.cmp(&b.caller)));
    Ok(callers)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
0x00000000acff69aa-0x00000000645e4fe2    8192 acpi_os_map_iomem+0x1bc/0x1e0 phys=0x00000000000a0000 ioremap
0x0000000015a3b667-0x00000000c682998a   20480 kernel_clone+0x94/0x3e0 pages=4 vmalloc N0=4
0x0000000025a3b667-0x00000000d682998a   20480 kernel_clone+0x94/0x3e0 pages=4 vmalloc N0=4
0x0000000035a3b667-0x00000000e682998a   90112 alloc_large_system_hash+0x1/0x2 pages=21 vmalloc N0=21
0x0000000035a3b667-0x00000000e682998a   90112 unpurged vm_area
";

    #[test]
    fn areas_are_summed_by_caller() {
        let callers = parse_vmallocinfo(TEXT).unwrap();
        let shape: Vec<_> = callers.iter().map(|c| (c.caller.as_str(), c.pages)).collect();
        assert_eq!(shape, [("alloc_large_system_hash", 21), ("kernel_clone", 8)]);
    }

    #[test]
    fn damage_is_named() {
        assert_eq!(parse_vmallocinfo("0x0-0x1 many\n").unwrap_err().found, "many");
        assert_eq!(parse_vmallocinfo("\nvmalloc\n").unwrap_err().line, 2);
        assert_eq!(parse_vmallocinfo("0x0-0x1 1 f+0x1/0x2 pages=x\n").unwrap_err().found, "x");
        let cut = parse_vmallocinfo("0x0-0x1 1 f+0x1/0x2 pages=1").unwrap_err();
        assert!(cut.expected.contains("cut"), "{cut}");
        assert_eq!(parse_vmallocinfo("").unwrap(), []);
    }
}
