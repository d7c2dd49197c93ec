//! The order of a pageblock, without `/proc/pagetypeinfo` and the walk under the zone lock that it takes.

use std::path::Path;

use freehold::Order;

use crate::procfs::{page_bytes, read_buddyinfo, read_meminfo, read_text};

/// Returns the order of a pageblock on the machine below `root`.
///
/// On a kernel with huge pages a pageblock is as large as a huge page, but at most as large as the
/// largest free block; on other kernels it is as large as the largest free block.
///
/// Linux counterpart: `pageblock_order`.
pub fn pageblock_order(root: &Path) -> u8 {
    let page_bytes = page_bytes(root).unwrap_or(rustix::param::page_size() as u64);
    let bytes = thp_bytes(root).or_else(|| read_meminfo(root, "Hugepagesize").ok());
    let zones = read_buddyinfo(root).unwrap_or_default();
    let largest = zones.first().map_or(Order::MAX_PAGE_ORDER, |zone| zone.free.largest()).get();
    match bytes.map(|bytes| bytes / page_bytes) {
        Some(pages) if pages > 1 => (pages.ilog2() as u8).min(largest),
        _ => largest,
    }
}

fn thp_bytes(root: &Path) -> Option<u64> {
    let path = root.join("sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
    read_text(&path).ok()?.trim().parse().ok()
}
