//! The state of a replay's memory at its end.

use freehold::{Memory, Migratetype, PageTypeRows};
use freehold_trace::Snapshot;

use super::measures::ZoneFree;
use super::watch::ReplayPlatform;
use crate::counts::{of_machine, pageblocks};
use crate::start::RecordedMachine;

/// Returns the number of whole pageblocks in free blocks.
pub(super) fn free_pageblocks(machine: &RecordedMachine, memory: &Memory<'_, ReplayPlatform>) -> u64 {
    let zones = memory.zones().iter().map(|zone| {
        let blocks = zone.list_lengths().by_type;
        pageblocks(machine.pageblock_order, |order| blocks[order].iter().sum())
    });
    zones.sum()
}

/// Returns the free blocks of each zone, in the order of the machine's zones.
pub(super) fn free_blocks(machine: &RecordedMachine, memory: &Memory<'_, ReplayPlatform>) -> Vec<ZoneFree> {
    let zones = machine.zones.iter().enumerate().filter_map(|(number, config)| {
        let zone = memory.zone_of(config.start)?;
        Some(ZoneFree {
            zone: machine.zone_name(number),
            blocks: of_machine(zone.max_order(), &zone.list_lengths().by_type),
        })
    });
    zones.collect()
}

/// Returns the text of `/proc/pagetypeinfo`, with rows for the types that the recorded kernel printed.
pub(super) fn pagetypeinfo(start: &Snapshot, memory: &Memory<'_, ReplayPlatform>) -> String {
    let types = &start.pagetypeinfo.types;
    let has = |kind: Migratetype| types.is_empty() || types.has(kind);
    let rows = PageTypeRows { cma: has(Migratetype::Cma), isolate: has(Migratetype::Isolate) };
    let mut text = String::new();
    // Writing into a string does not fail.
    let _ = memory.write_pagetypeinfo(&mut text, rows);
    text
}

/// Returns the number of pages on all per-CPU lists.
pub(super) fn percpu_pages(memory: &Memory<'_, ReplayPlatform>) -> u64 {
    let lists = memory.zones().iter().flat_map(|zone| (0..memory.cpus()).map(|cpu| zone.percpu_pages(cpu)));
    lists.map(u64::from).sum()
}

/// Returns the highest `high` that the tuning of a CPU's lists reached.
pub(super) fn highest_high(memory: &Memory<'_, ReplayPlatform>) -> u32 {
    let lists = memory.zones().iter().flat_map(|zone| (0..memory.cpus()).map(|cpu| zone.percpu_stats(cpu)));
    lists.flatten().map(|stats| stats.highest_high).max().unwrap_or(0)
}
