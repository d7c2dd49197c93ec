//! The order of a pageblock, without `/proc/pagetypeinfo` and the walk under the zone lock that it takes.

use std::path::Path;

use freehold::Order;

use crate::procfs::{self, read_buddyinfo, read_free_lists, read_meminfo, read_text};

/// Returns the order of a pageblock on the machine below `root`.
///
/// A copy of another machine's pagetypeinfo has it. Otherwise it follows from the kernel's rule.
pub fn pageblock_order(root: &Path) -> u8 {
    pageblock_order_with(root, None)
}

/// Returns the order of a pageblock on the machine below `root`, whose pages have `page_bytes` bytes if that is known.
///
/// On a kernel with huge pages a pageblock is as large as a huge page, but at most as large as the
/// largest free block; on other kernels it is as large as the largest free block.
///
/// Linux counterpart: `pageblock_order`.
pub fn pageblock_order_with(root: &Path, page_bytes: Option<u64>) -> u8 {
    if let Some(order) = in_copy(root) {
        return order;
    }
    let by_files = || procfs::page_bytes(root).unwrap_or(rustix::param::page_size() as u64);
    let page_bytes = page_bytes.unwrap_or_else(by_files);
    let bytes = thp_bytes(root).or_else(|| read_meminfo(root, "Hugepagesize").ok());
    let zones = read_buddyinfo(root).unwrap_or_default();
    let largest = zones.first().map_or(Order::MAX_PAGE_ORDER, |zone| zone.free.largest()).get();
    match bytes.map(|bytes| bytes / page_bytes) {
        Some(pages) if pages > 1 => (pages.ilog2() as u8).min(largest),
        _ => largest,
    }
}

/// Returns the order in a copy of pagetypeinfo. Of this machine the file is not read, as that takes the zone lock.
fn in_copy(root: &Path) -> Option<u8> {
    if root == Path::new("/") {
        return None;
    }
    read_free_lists(root).ok()?.pageblock_order
}

fn thp_bytes(root: &Path) -> Option<u64> {
    let path = root.join("sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
    read_text(&path).ok()?.trim().parse().ok()
}
