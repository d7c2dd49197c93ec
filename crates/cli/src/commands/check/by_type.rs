//! Free memory by type, for copies that have no zoneinfo to judge by.

use freehold_linux::sensor::ZoneFreeBlocks;
use freehold_monitor::verdict::{BlockRequest, SizeText, State, Verdict};
use freehold_trace::{ByOrder, FreeCount, KernelType, KernelTypes};

use crate::readings::Readings;

/// The most zones that are described.
const MOST_ZONES: usize = 4;

/// Returns a sentence for each requested zone: free pages, blocks of the requested order, and pageblocks, by type.
pub(super) fn free_by_type(readings: &Readings, request: &BlockRequest) -> Vec<String> {
    let zones = readings.free.iter().filter(|zone| request.wants(zone.node, &zone.name));
    zones.take(MOST_ZONES).filter_map(|zone| sentence(zone, &readings.kernel_types, request)).collect()
}

/// Turns a verdict on a copy without zoneinfo into one that promises nothing.
pub(super) fn without_watermarks(verdict: &mut Verdict) {
    let request = &verdict.request;
    verdict.state = State::Unknown;
    verdict.exit_code = State::Unknown.exit_code();
    verdict.action = None;
    verdict.reason = vec![format!(
        "{} free blocks of {} (order {}), {} needed; how many of them the watermarks allow is unknown, as zoneinfo is \
         missing. Copy /proc/zoneinfo, too",
        verdict.supply.now,
        SizeText(request.block_bytes),
        request.order,
        request.blocks
    )];
}

fn sentence(zone: &ZoneFreeBlocks, types: &KernelTypes, request: &BlockRequest) -> Option<String> {
    let lists = zone.by_type.as_ref()?;
    let order = usize::from(request.order);
    let free = zone.free_pages();
    let mib = free as f64 * (request.block_bytes >> request.order) as f64 / f64::from(1 << 20);
    let pageblocks = zone.pageblocks.as_ref().map_or(String::new(), |blocks| {
        let all: u64 = blocks.iter().sum();
        format!("; {all} pageblocks: {}", list(types, |kind| blocks[kind.index()]))
    });
    Some(format!(
        "node {}, zone {}: {free} free pages ({mib:.1} MiB): {}; blocks of order {order} in them: {}{pageblocks}",
        zone.node,
        zone.name,
        list(types, |kind| pages(&lists[kind.index()], 0)),
        list(types, |kind| pages(&lists[kind.index()], order) >> order),
    ))
}

/// Returns the types whose number is not 0.
fn list(types: &KernelTypes, number: impl Fn(&KernelType) -> u64) -> String {
    let numbers = types.iter().map(|kind| (kind, number(kind))).filter(|(_, number)| *number > 0);
    let words: Vec<_> = numbers.map(|(kind, number)| format!("{kind} {number}")).collect();
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}

fn pages(list: &ByOrder<FreeCount>, from: usize) -> u64 {
    let counts = list.iter().enumerate().skip(from);
    counts.fold(0, |sum, (order, count)| sum.saturating_add(count.blocks.saturating_mul(1 << order)))
}
