//! The order of a pageblock, without `/proc/pagetypeinfo` and the zone lock that it takes.

use std::path::Path;

use freehold::NR_PAGE_ORDERS;

use crate::procfs::{read_meminfo, read_text};

/// Returns the order of a pageblock on the machine below `root`.
///
/// On a kernel with huge pages a pageblock is as large as a huge page, but at most as large as the
/// largest free block; on other kernels it is as large as the largest free block.
///
/// Linux counterpart: `pageblock_order`.
pub fn pageblock_order(root: &Path) -> u8 {
    let page_bytes = rustix::param::page_size() as u64;
    let bytes = thp_bytes(root).or_else(|| read_meminfo(root, "Hugepagesize").ok());
    let largest = NR_PAGE_ORDERS as u8 - 1;
    match bytes.map(|bytes| bytes / page_bytes) {
        Some(pages) if pages > 1 => (pages.ilog2() as u8).min(largest),
        _ => largest,
    }
}

fn thp_bytes(root: &Path) -> Option<u64> {
    let path = root.join("sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
    read_text(&path).ok()?.trim().parse().ok()
}
