//! The values of each metric.

use freehold_linux::sensor::Source;

use super::scrape::{Rows, Scrape};
use crate::model::{Holds, Rated, ZoneModel, ZonePages};
use crate::verdict::State;

/// The kernel's extfrag index of an order whose requests would succeed.
const WOULD_NOT_FAIL: f64 = -1.0;

/// Adds the value of every zone that has one.
fn each_zone(scrape: &Scrape, rows: &mut Rows, value: impl Fn(&ZoneModel) -> Option<u64>) {
    for zone in &scrape.model().zones {
        if let Some(value) = value(zone) {
            rows.whole(&[&zone.node, &zone.name], value);
        }
    }
}

fn each_zones_pages(scrape: &Scrape, rows: &mut Rows, value: impl Fn(&ZonePages) -> u64) {
    each_zone(scrape, rows, |zone| zone.pages.as_ref().map(&value));
}

pub(super) fn free_blocks(scrape: &Scrape, rows: &mut Rows) {
    for zone in &scrape.model().zones {
        for (order, count) in zone.free.iter().enumerate() {
            rows.whole(&[&zone.node, &zone.name, &order], count.blocks);
        }
    }
}

pub(super) fn free_blocks_by_type(scrape: &Scrape, rows: &mut Rows) {
    for zone in &scrape.model().zones {
        for kind in &scrape.model().types {
            let Some(orders) = zone.by_type.as_ref().map(|types| &types[kind.index()]) else { continue };
            for (order, count) in orders.iter().enumerate() {
                rows.whole(&[&zone.node, &zone.name, &order, &kind.name()], count.blocks);
            }
        }
    }
}

pub(super) fn free_pages(scrape: &Scrape, rows: &mut Rows) {
    each_zone(scrape, rows, |zone| Some(zone.free_pages));
}

pub(super) fn available_blocks(scrape: &Scrape, rows: &mut Rows) {
    for zone in &scrape.model().zones {
        for (order, blocks) in zone.blocks.iter().enumerate() {
            rows.whole(&[&zone.node, &zone.name, &order], *blocks);
        }
    }
}

pub(super) fn unusable_index(scrape: &Scrape, rows: &mut Rows) {
    for zone in &scrape.model().zones {
        for (order, index) in zone.unusable_index.iter().enumerate() {
            rows.real(&[&zone.node, &zone.name, &order], *index);
        }
    }
}

pub(super) fn extfrag_index(scrape: &Scrape, rows: &mut Rows) {
    for zone in &scrape.model().zones {
        for (order, index) in zone.extfrag_index.iter().enumerate() {
            rows.real(&[&zone.node, &zone.name, &order], index.unwrap_or(WOULD_NOT_FAIL));
        }
    }
}

pub(super) fn capped(scrape: &Scrape, rows: &mut Rows) {
    each_zone(scrape, rows, |zone| {
        let of_types = zone.by_type.iter().flat_map(|types| types.iter().flatten());
        Some(u64::from(zone.free.iter().chain(of_types).any(|count| count.capped)))
    });
}

pub(super) fn pageblocks(scrape: &Scrape, rows: &mut Rows) {
    for zone in &scrape.model().zones {
        for kind in &scrape.model().types {
            if let Some(blocks) = &zone.pageblocks {
                rows.whole(&[&zone.node, &zone.name, &kind.name()], blocks[kind.index()]);
            }
        }
    }
}

pub(super) fn pageblocks_holding(scrape: &Scrape, rows: &mut Rows) {
    for zone in scrape.map().into_iter().flat_map(|map| &map.zones) {
        for (holds, blocks) in Holds::ALL.into_iter().zip(zone.totals()) {
            let word = match holds {
                Holds::Absent => continue,
                Holds::Unread => "unread",
                known => known.name(),
            };
            rows.whole(&[&zone.node, &zone.name, &word], u64::from(blocks));
        }
    }
}

pub(super) fn managed_pages(scrape: &Scrape, rows: &mut Rows) {
    each_zones_pages(scrape, rows, |pages| pages.managed);
}

pub(super) fn watermark_pages(scrape: &Scrape, rows: &mut Rows) {
    for zone in &scrape.model().zones {
        let Some(pages) = zone.pages else { continue };
        for (mark, value) in [("min", pages.min), ("low", pages.low), ("high", pages.high)] {
            rows.whole(&[&zone.node, &zone.name, &mark], value);
        }
    }
}

pub(super) fn watermark_boost_pages(scrape: &Scrape, rows: &mut Rows) {
    each_zones_pages(scrape, rows, |pages| pages.boost);
}

pub(super) fn percpu_pages(scrape: &Scrape, rows: &mut Rows) {
    each_zones_pages(scrape, rows, |pages| pages.percpu);
}

pub(super) fn verdict_blocks(scrape: &Scrape, rows: &mut Rows) {
    for verdict in &scrape.model().verdicts {
        let (size, supply) = (verdict.size(), &verdict.supply);
        for (when, blocks) in [
            ("now", Some(supply.now)),
            ("after-compaction", supply.after_compaction),
            ("after-reclaim", supply.after_reclaim),
            ("after-reclaim-and-compaction", supply.after_reclaim_and_compaction),
        ] {
            if let Some(blocks) = blocks {
                rows.whole(&[&size, &when], blocks);
            }
        }
    }
}

pub(super) fn verdict_state(scrape: &Scrape, rows: &mut Rows) {
    for verdict in &scrape.model().verdicts {
        let Some(of_need) = verdict.state_of_need() else { continue };
        for state in State::ALL {
            rows.whole(&[&verdict.size(), &state.name()], u64::from(of_need == state));
        }
    }
}

pub(super) fn need_blocks(scrape: &Scrape, rows: &mut Rows) {
    for verdict in &scrape.model().verdicts {
        if let Some(blocks) = verdict.need {
            rows.whole(&[&verdict.size()], blocks);
        }
    }
}

pub(super) fn need_exit_code(scrape: &Scrape, rows: &mut Rows) {
    for verdict in &scrape.model().verdicts {
        if let Some(state) = verdict.state_of_need() {
            rows.whole(&[&verdict.size()], u64::from(state.exit_code()));
        }
    }
}

pub(super) fn need_probability(scrape: &Scrape, rows: &mut Rows) {
    for verdict in scrape.model().verdicts.iter().filter(|verdict| verdict.need.is_some()) {
        if let Some(forecast) = verdict.forecast {
            rows.real(&[&verdict.size()], forecast.probability);
        }
    }
}

pub(super) fn verdict_age_seconds(scrape: &Scrape, rows: &mut Rows) {
    for verdict in &scrape.model().verdicts {
        rows.real(&[&verdict.size()], verdict.age_ms(scrape.model().unix_ms) as f64 / 1e3);
    }
}

pub(super) fn verdict_block_bytes(scrape: &Scrape, rows: &mut Rows) {
    for verdict in &scrape.model().verdicts {
        rows.whole(&[&verdict.size()], verdict.block_bytes);
    }
}

pub(super) fn machine_free_pages(scrape: &Scrape, rows: &mut Rows) {
    rows.whole(&[], scrape.model().zones.iter().map(|zone| zone.free_pages).sum());
}

pub(super) fn machine_percpu_pages(scrape: &Scrape, rows: &mut Rows) {
    all_zones_pages(scrape, rows, |pages| pages.percpu);
}

pub(super) fn machine_managed_pages(scrape: &Scrape, rows: &mut Rows) {
    all_zones_pages(scrape, rows, |pages| pages.managed);
}

/// Adds the sum over all zones, if it is known of each.
fn all_zones_pages(scrape: &Scrape, rows: &mut Rows, value: impl Fn(&ZonePages) -> u64) {
    let known: Option<Vec<_>> = scrape.model().zones.iter().map(|zone| zone.pages.as_ref()).collect();
    if let Some(known) = known {
        rows.whole(&[], known.into_iter().map(value).sum());
    }
}

pub(super) fn counter_of_vmstat(rated: &Rated, scrape: &Scrape, rows: &mut Rows) {
    if let Some(rate) = scrape.model().rates.iter().find(|rate| rate.name == rated.name) {
        rows.whole(&[], rate.total);
    }
}

pub(super) fn pageblock_order(scrape: &Scrape, rows: &mut Rows) {
    if let Some(order) = scrape.model().pageblock_order {
        rows.whole(&[], u64::from(order));
    }
}

pub(super) fn map_age_seconds(scrape: &Scrape, rows: &mut Rows) {
    if let Some(age_ms) = scrape.published.map_age_ms {
        rows.real(&[], age_ms as f64 / 1e3);
    }
}

pub(super) fn pressure_seconds(scrape: &Scrape, rows: &mut Rows) {
    if let Some(pressure) = scrape.model().pressure {
        for (tasks, stall) in [("some", pressure.some), ("full", pressure.full)] {
            rows.real(&[&tasks], stall.total_us as f64 / 1e6);
        }
    }
}

pub(super) fn memory_bytes(scrape: &Scrape, rows: &mut Rows) {
    rows.whole(&[], scrape.model().machine.memory_bytes);
}

pub(super) fn page_size_bytes(scrape: &Scrape, rows: &mut Rows) {
    rows.whole(&[], scrape.model().machine.page_bytes);
}

pub(super) fn machine_info(scrape: &Scrape, rows: &mut Rows) {
    let machine = &scrape.model().machine;
    rows.whole(&[&machine.kernel_release, &machine.cpus, &env!("CARGO_PKG_VERSION")], 1);
}

pub(super) fn up(scrape: &Scrape, rows: &mut Rows) {
    rows.whole(&[], u64::from(scrape.published.failing.is_none()));
}

pub(super) fn sensor_source(scrape: &Scrape, rows: &mut Rows) {
    for source in [Source::Bpf, Source::Pagetypeinfo, Source::Buddyinfo] {
        rows.whole(&[&source.name()], u64::from(scrape.model().sensor.source == source));
    }
}

pub(super) fn types_age_seconds(scrape: &Scrape, rows: &mut Rows) {
    if let Some(age_ms) = scrape.model().sensor.types_age_ms {
        rows.real(&[], age_ms as f64 / 1e3);
    }
}

pub(super) fn sample_age_seconds(scrape: &Scrape, rows: &mut Rows) {
    // A file is read later than it is written.
    if scrape.connections.is_some() {
        rows.real(&[], scrape.published.taken.elapsed().as_secs_f64());
    }
}

pub(super) fn sample_interval_seconds(scrape: &Scrape, rows: &mut Rows) {
    if scrape.is_of_a_series() {
        rows.real(&[], scrape.published.interval_ms as f64 / 1e3);
    }
}

pub(super) fn samples(scrape: &Scrape, rows: &mut Rows) {
    if scrape.is_of_a_series() {
        rows.whole(&[], scrape.published.tally.samples);
    }
}

pub(super) fn sample_errors(scrape: &Scrape, rows: &mut Rows) {
    if scrape.is_of_a_series() {
        rows.whole(&[], scrape.published.tally.errors);
    }
}

pub(super) fn last_read_seconds(scrape: &Scrape, rows: &mut Rows) {
    rows.real(&[], scrape.model().sensor.cost_ns as f64 / 1e9);
}

pub(super) fn read_seconds(scrape: &Scrape, rows: &mut Rows) {
    if scrape.is_of_a_series() {
        rows.real(&[], scrape.published.tally.read_ns as f64 / 1e9);
    }
}

pub(super) fn connections(scrape: &Scrape, rows: &mut Rows) {
    if let Some(connections) = scrape.connections {
        rows.whole(&[], connections.open);
    }
}

pub(super) fn connections_refused(scrape: &Scrape, rows: &mut Rows) {
    if let Some(connections) = scrape.connections {
        rows.whole(&[], connections.refused);
    }
}

pub(super) fn process_cpu_seconds(scrape: &Scrape, rows: &mut Rows) {
    if scrape.is_of_a_series() {
        rows.real(&[], scrape.cpu_seconds);
    }
}

pub(super) fn process_resident_memory_bytes(scrape: &Scrape, rows: &mut Rows) {
    if let Some(bytes) = scrape.resident_bytes.filter(|_| scrape.is_of_a_series()) {
        rows.whole(&[], bytes);
    }
}
