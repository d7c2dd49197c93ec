//! Isolates a pageblock, and takes a pageblock out of service and back, while the other CPU allocates.

use freehold::{BlockError, FreeError, Memory, Migratetype, NoReclaim, Order, Pfn, Zone};

use crate::cache::{Cache, movable};
use crate::lock::Host;
use crate::serial::line;
use crate::verdict::must;

/// Isolates and offlines a pageblock full of the cache's pages, which move away, and brings the pageblock back.
pub(crate) fn run(memory: &Memory<'_, Host>, cache: &mut Cache) {
    let order = memory.zones()[0].pageblock_order();
    let pages = order.pages();
    let Ok(start) = memory.alloc(movable(order), NoReclaim) else {
        return must(false, "a pageblock is free");
    };
    let Some(zone) = memory.zone_of(start) else { return must(false, "a block is in a zone") };
    let (present, moved) = (zone.present_pages(), cache.moved);
    // CPU 1 could allocate a free page before the pageblock is isolated, and that page could not be moved.
    cache.add_every(1, memory, (start, order));

    must(zone.isolate_range(start, pages) == Ok(()), "a movable pageblock is isolated");
    zone.drain_all();
    must(zone.isolated_pageblocks() == 1, "one pageblock is isolated");
    must(zone.block_type(start) == Some(Migratetype::Isolate), "the pageblock says that it is isolated");
    must(zone.isolate_range(start, pages) == Err(BlockError::WrongState), "it is isolated once");
    zone.undo_isolate_range(start, pages, Migratetype::Movable);
    must(zone.isolated_pageblocks() == 0, "no pageblock is isolated");

    must(memory.offline_range(start, pages, 0, cache) == Ok(()), "a pageblock of movable pages leaves");
    must(cache.is_outside(start, pages), "its pages have moved");
    must(zone.present_pages() == present - pages, "its pages are not present");
    must(memory.free(0, start, Order::ZERO) == Err(FreeError::OutsideZones), "its pages cannot be freed");
    line!("offline: pageblock {start} left, {} pages moved", cache.moved - moved);
    bring_back(memory, start, pages, present);
    cache.empty(memory);
}

fn bring_back(memory: &Memory<'_, Host>, start: Pfn, pages: u64, present: u64) {
    must(memory.online_range(start, pages) == Ok(()), "the pageblock comes back");
    must(memory.online_range(start, pages).is_err(), "a pageblock comes back once");
    let now = memory.zone_of(start).map(Zone::present_pages);
    must(now == Some(present), "its pages are present again");
    line!("online: pageblock {start} is back");
}
