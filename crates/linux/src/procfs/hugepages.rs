//! `/sys/kernel/mm/hugepages`: the pools of hugetlb pages.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;

use serde::Serialize;

use super::read::{REPORT, number, read_text};
use crate::error::Error;

/// The folder of the pools, below a root.
const POOLS: &str = "sys/kernel/mm/hugepages";

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

/// Returns the sizes of the pools below `root` in bytes, the smallest first; none if the folder cannot be read.
pub fn pool_sizes(root: &Path) -> Vec<u64> {
    let entries = fs::read_dir(root.join(POOLS)).into_iter().flatten().flatten();
    let mut sizes: Vec<_> = entries.filter_map(|entry| Some(page_kib(&entry.file_name())? << 10)).collect();
    sizes.sort_unstable();
    sizes
}

/// Returns the size in the name of a pool's folder.
fn page_kib(name: &OsStr) -> Option<u64> {
    name.to_str()?.strip_prefix("hugepages-")?.strip_suffix("kB")?.parse().ok()
}

/// Reads the pools in `sys/kernel/mm/hugepages` below `root`, smallest pages first.
///
/// A kernel without hugetlb lacks the folder: the result is then empty.
pub fn read_hugetlb_pools(root: &Path) -> Result<Vec<HugetlbPool>, Error> {
    let folder = root.join(POOLS);
    let entries = match fs::read_dir(&folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(|e| Error::io("read", &folder, e))?,
    };
    let mut pools = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|e| Error::io("read", &folder, e))?;
        let name = entry.file_name();
        let Some(page_kib) = page_kib(&name) else { continue };
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
