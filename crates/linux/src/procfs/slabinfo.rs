//! `/proc/slabinfo`: slab caches and their sizes.

use std::path::Path;

use serde::Serialize;

use super::read::{REPORT, number, read_text, rows};
use crate::error::{Error, ParseError};

/// One slab cache.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct SlabCache {
    /// Its name. If the kernel merged similar caches, one name stands for all of them.
    pub name: String,
    /// Objects in use.
    pub active_objects: u64,
    /// Objects that fit into its slabs.
    pub objects: u64,
    /// Pages of its slabs.
    pub pages: u64,
}

/// Reads `proc/slabinfo` below `root`. Returns the caches, those with the most pages first.
///
/// # Errors
///
/// [`Error::NotRoot`] if access is refused; [`Error::Malformed`] if the file does not parse.
pub fn read_slabinfo(root: &Path) -> Result<Vec<SlabCache>, Error> {
    let path = root.join("proc/slabinfo");
    parse_slabinfo(&read_text(&path)?).map_err(|e| e.in_file(&path, REPORT))
}

/// Parses the contents of `/proc/slabinfo`. Returns the caches, those with the most pages first.
pub fn parse_slabinfo(text: &str) -> Result<Vec<SlabCache>, ParseError> {
    let mut rows = rows(text)?;
    match rows.next() {
        Some((_, row)) if row.starts_with("slabinfo - version: 2") => {}
        other => {
            return Err(ParseError::new(1, "`slabinfo - version: 2.1`", other.map_or("none", |(_, r)| r)));
        }
    }
    let mut caches = Vec::new();
    for (line, row) in rows.filter(|(_, row)| !row.starts_with('#') && !row.trim().is_empty()) {
        caches.push(cache(line, row)?);
    }
    caches.sort_by(|a: &SlabCache, b| b.pages.cmp(&a.pages).then_with(|| a.name.cmp(&b.name)));
    Ok(caches)
}

/// Parses `name active objects size per_slab pages_per_slab : tunables … : slabdata active slabs shared`.
fn cache(line: u64, row: &str) -> Result<SlabCache, ParseError> {
    let mut parts = row.split(" : ");
    let mut words = parts.next().unwrap_or("").split_ascii_whitespace();
    let name = words.next().unwrap_or("").to_owned();
    let mut next = |what| number(line, what, words.next());
    let (active_objects, objects) = (next("active objects")?, next("objects")?);
    let (_size, _per_slab, pages_per_slab) =
        (next("an object's size")?, next("objects a slab")?, next("pages a slab")?);
    let slabdata = parts.find_map(|part| part.trim_start().strip_prefix("slabdata"));
    let slabdata = slabdata.ok_or_else(|| ParseError::new(line, "`: slabdata` and numbers", row))?;
    let slabs = number(line, "slabs", slabdata.split_ascii_whitespace().nth(1))?;
    let pages = slabs.saturating_mul(pages_per_slab);
    Ok(SlabCache { name, active_objects, objects, pages })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
slabinfo - version: 2.1
# name            <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables <limit> <batchcount>
ext4_inode_cache    100    200   1176   27    8 : tunables    0    0    0 : slabdata      8      8      0
dentry            40000  42000    192   21    1 : tunables    0    0    0 : slabdata   2000   2000      0
";

    #[test]
    fn the_largest_cache_comes_first() {
        let caches = parse_slabinfo(TEXT).unwrap();
        let shape: Vec<_> = caches.iter().map(|c| (c.name.as_str(), c.pages, c.active_objects)).collect();
        assert_eq!(shape, [("dentry", 2000, 40000), ("ext4_inode_cache", 64, 100)]);
    }

    #[test]
    fn cut_lines_are_named() {
        let cut = &TEXT[..TEXT.len() - 40];
        assert!(parse_slabinfo(cut).unwrap_err().expected.contains("cut"));
        let short = parse_slabinfo(&format!("{cut}\n")).unwrap_err();
        assert!(short.line == 4 && short.expected.contains("slabdata"), "{short}");
        assert_eq!(parse_slabinfo("").unwrap_err().found, "none");
        assert!(parse_slabinfo("slabinfo - version: 1.1\n").is_err());
    }
}
