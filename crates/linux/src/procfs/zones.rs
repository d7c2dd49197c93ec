//! The zones of a machine, also of a copy without zoneinfo.

use std::path::Path;

use freehold_trace::{ByOrder, FreeCount, ZoneSnapshot};

use super::buddyinfo::read_buddyinfo;
use super::free_lists::ZoneFreeLists;
use super::pagetypeinfo::read_free_lists;
use super::zoneinfo::read_zoneinfo;
use crate::error::Error;

/// Reads the zones below `root`: from zoneinfo, or of a copy that lacks it from the free lists, with watermarks of 0.
///
/// # Errors
/// Those of zoneinfo.
pub fn read_zones(root: &Path) -> Result<Vec<ZoneSnapshot>, Error> {
    match read_zoneinfo(root) {
        Err(error) if error.is_closed_or_missing() && root != Path::new("/") => {
            of_free_lists(root).ok_or(error)
        }
        other => other,
    }
}

fn of_free_lists(root: &Path) -> Option<Vec<ZoneSnapshot>> {
    let lists = read_free_lists(root).ok();
    let order = lists.as_ref().and_then(|lists| lists.pageblock_order).unwrap_or(0);
    let typed = lists.into_iter().flat_map(|lists| lists.zones);
    let mut zones: Vec<_> = typed.map(|zone| of_lists(&zone, order)).collect();
    for zone in read_buddyinfo(root).unwrap_or_default() {
        if !zones.iter().any(|known| known.node == zone.node && known.name == zone.name) {
            zones.push(with_pages(zone.node, &zone.name, pages(&zone.free, |blocks| *blocks), 0));
        }
    }
    (!zones.is_empty()).then_some(zones)
}

fn of_lists(zone: &ZoneFreeLists, pageblock_order: u8) -> ZoneSnapshot {
    let lists = zone.free.iter().map(|list| pages(list, |count: &FreeCount| count.blocks));
    let pageblocks = zone.blocks.iter().flatten().fold(0_u64, |sum, blocks| sum.saturating_add(*blocks));
    let free = lists.fold(0, u64::saturating_add);
    with_pages(zone.node, &zone.name, free, pageblocks.saturating_mul(1 << pageblock_order))
}

fn with_pages(node: u32, name: &str, free: u64, in_pageblocks: u64) -> ZoneSnapshot {
    let managed = free.max(in_pageblocks);
    let name = name.to_owned();
    ZoneSnapshot { node, name, spanned: managed, present: managed, managed, free, ..ZoneSnapshot::default() }
}

fn pages<T>(list: &ByOrder<T>, blocks: impl Fn(&T) -> u64) -> u64 {
    list.iter()
        .enumerate()
        .fold(0, |sum, (order, n)| sum.saturating_add(blocks(n).saturating_mul(1 << order)))
}
