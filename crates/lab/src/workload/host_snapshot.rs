//! The snapshots of a generated machine, as a recorder would read them.

use freehold::{Memory, Migratetype, Order, Zone};
use freehold_trace::{ByOrder, FrameUse, FreeCount, PageTypeInfo, PageTypeZone, Run, Snapshot, ZoneSnapshot};

use super::fallbacks::HostPlatform;
use super::users::Users;

/// Fills a snapshot, which has the machine's zones, with the contents of `/proc`.
pub(super) fn fill_snapshot(memory: &Memory<'_, HostPlatform>, snapshot: &mut Snapshot) {
    let pageblock_order = memory.zones().first().map_or(0, |zone| zone.pageblock_order().get());
    let mut info = PageTypeInfo { pageblock_order, ..PageTypeInfo::default() };
    info.types = Migratetype::ALL.into_iter().collect();
    for zone in memory.zones() {
        let mut read = PageTypeZone { name: zone.kind().name().to_owned(), ..PageTypeZone::default() };
        let counts = zone.list_lengths();
        read.free.fill(ByOrder::new(zone.max_order()));
        for order in 0..=zone.max_order().index() {
            for kind in Migratetype::ALL {
                let blocks = counts.by_type[order][kind.index()];
                read.free[kind.index()][order] = FreeCount { blocks, capped: false };
            }
        }
        read.blocks = zone.blocks_by_type().into();
        info.zones.push(read);
        if let Some(seen) = snapshot.zones.iter_mut().find(|seen| seen.start_pfn == zone.start().0) {
            fill_zone(zone, seen);
        }
    }
    snapshot.pagetypeinfo = info;
}

fn fill_zone(zone: &Zone<'_, HostPlatform>, seen: &mut ZoneSnapshot) {
    seen.free = zone.free_pages();
    seen.boost = zone.watermark_boost();
    for set in &mut seen.pagesets {
        set.count = zone.percpu_pages(set.cpu as u16).into();
    }
}

/// Returns the use of each frame as in `/proc/kpageflags`, where pages on per-CPU lists look used.
pub(super) fn occupancy(memory: &Memory<'_, HostPlatform>, users: &Users) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut used = users.present().peekable();
    for zone in memory.zones() {
        let (start, end) = (zone.start().0, zone.end().0);
        let mut uses = vec![FrameUse::Other; (end - start) as usize];
        let mut fill = |pfn: u64, order: Order, used_for| {
            let at = (pfn - start) as usize;
            uses[at..at + order.pages() as usize].fill(used_for);
        };
        for order in Order::ZERO.up_to(zone.max_order()) {
            for kind in Migratetype::ALL {
                zone.free_list(order, kind).for_each(|pfn| fill(pfn.0, order, FrameUse::Free));
            }
        }
        while let Some((pfn, order, used_for)) = used.next_if(|(pfn, ..)| pfn.0 < end) {
            fill(pfn.0, order, used_for.seen());
        }
        let mut at = start;
        for run in uses.chunk_by(|a, b| a == b) {
            runs.push(Run { start: freehold::Pfn(at), pages: run.len() as u64, used_for: run[0] });
            at += run.len() as u64;
        }
    }
    runs
}
