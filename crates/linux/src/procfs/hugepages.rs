//! `/sys/kernel/mm/hugepages`: the pools of hugetlb pages.

use std::fs;
use std::io;
use std::path::Path;

use serde::Serialize;

use super::read::{REPORT, number, read_text};
use crate::error::Error;

/// The pool of hugetlb pages of one size.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct HugetlbPool {
    /// The size of a page of the pool, in KiB.
    pub page_kib: u64,
    /// Pages in the pool, of that size.
    pub pages: u64,
    /// Free pages in the pool.
    pub free: u64,
    /// Free pages that are reserved but not yet allocated (`resv_hugepages`).
    pub reserved: u64,
    /// Pages beyond the pool's size, which leave it when they are freed.
    pub surplus: u64,
}

/// Reads the pools in `sys/kernel/mm/hugepages` below `root`, smallest pages first.
///
/// A kernel without hugetlb lacks the folder: the result is then empty.
pub fn read_hugetlb_pools(root: &Path) -> Result<Vec<HugetlbPool>, Error> {
    let folder = root.join("sys/kernel/mm/hugepages");
    let entries = match fs::read_dir(&folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(|e| Error::io("read", &folder, e))?,
    };
    let mut pools = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|e| Error::io("read", &folder, e))?;
        let name = entry.file_name();
        let kib = name.to_str().and_then(|name| name.strip_prefix("hugepages-")?.strip_suffix("kB"));
        let Some(page_kib) = kib.and_then(|kib| kib.parse().ok()) else { continue };
        let read = |name: &str| {
            let path = entry.path().join(name);
            number(1, name, Some(read_text(&path)?.trim())).map_err(|e| e.in_file(&path, REPORT))
        };
        pools.push(HugetlbPool {
            page_kib,
            pages: read("nr_hugepages")?,
            free: read("free_hugepages")?,
            reserved: read("resv_hugepages")?,
            surplus: read("surplus_hugepages")?,
        });
    }
    pools.sort_by_key(|pool| pool.page_kib);
    Ok(pools)
}
