//! A copy of the visible state of a memory, for comparisons before and after a call.

use freehold::{
    FreeCounts, Memory, Migratetype, Order, PageblockUse, PerCpuStats, Pfn, RequestStats, ZoneStats,
};

use super::Host;

/// The state of one zone, without the counters that reading changes.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct ZoneDump {
    free: Vec<Pfn>,
    percpu: Vec<Pfn>,
    counts: FreeCounts,
    blocks: Vec<PageblockUse>,
    allocated: Vec<(Pfn, Order, Migratetype)>,
    free_pages: u64,
    boost: u64,
    stats: ZoneStats,
    percpu_stats: Vec<Option<PerCpuStats>>,
}

/// Returns the state of a whole memory.
pub(crate) fn dump(memory: &Memory<'_, Host>) -> (Vec<ZoneDump>, RequestStats) {
    let zones = memory.zones().iter().map(|zone| {
        let lists = || {
            Order::ZERO
                .up_to(Order::MAX_PAGE_ORDER)
                .flat_map(|order| Migratetype::ALL.map(|kind| (order, kind)))
        };
        let cpus = || 0..memory.cpus();
        let frames = (zone.start().0..zone.end().0).map(Pfn);
        ZoneDump {
            free: lists().flat_map(|(order, kind)| zone.free_list(order, kind).collect::<Vec<_>>()).collect(),
            percpu: cpus()
                .flat_map(|cpu| lists().map(move |list| (cpu, list)))
                .flat_map(|(cpu, (order, kind))| zone.percpu_list(cpu, order, kind).collect::<Vec<_>>())
                .collect(),
            counts: zone.counts_relaxed(),
            blocks: zone.pageblocks().collect(),
            allocated: frames
                .filter_map(|pfn| memory.allocated_block(pfn).map(|(order, kind)| (pfn, order, kind)))
                .collect(),
            free_pages: zone.free_pages(),
            boost: zone.watermark_boost(),
            stats: {
                let mut stats = zone.stats();
                stats.lock_holds = 0;
                stats
            },
            percpu_stats: cpus().map(|cpu| zone.percpu_stats(cpu)).collect(),
        }
    });
    (zones.collect(), memory.request_stats())
}
