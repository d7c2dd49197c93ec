//! The data of a report as JSON: the input of the page, and all data for other programs.

use freehold::Migratetype;
use serde_json::{Value, json};

use super::provenance::Provenance;
use super::trace_report::{TraceReport, ZoneOfReport};
use crate::recorded::FallbackCount;
use crate::replay::{MapCell, Measures, ReplaySample};

/// Returns the input of the page.
pub(super) fn of_page(provenance: &Provenance, traces: &[TraceReport]) -> Value {
    document(provenance, traces.iter().map(trace))
}

/// Returns the input of the page, and every measure of every replay.
pub(super) fn whole(provenance: &Provenance, traces: &[TraceReport]) -> Value {
    let with_measures = |report: &TraceReport| {
        let mut value = trace(report);
        value["comparison"] = json!(report.comparison);
        value
    };
    document(provenance, traces.iter().map(with_measures))
}

fn document(provenance: &Provenance, traces: impl Iterator<Item = Value>) -> Value {
    let Provenance { program, machine, settings } = provenance;
    json!({
        "provenance": { "program": program, "machine": machine, "settings": settings },
        "types": Migratetype::ALL.map(Migratetype::name),
        "traces": traces.collect::<Vec<_>>(),
    })
}

fn trace(report: &TraceReport) -> Value {
    let comparison = &report.comparison;
    let distance = comparison.distance.as_ref().map(|distance| {
        json!({
            "variant": distance.variant,
            "blocks": distance.blocks(),
            "pages": distance.pages(),
            "percent": distance.percent(),
        })
    });
    let zone = |zone: &ZoneOfReport| json!({ "name": zone.name, "managed": zone.managed, "first_pfn": zone.first_pfn });
    let zones: Vec<_> = report.zones.iter().map(zone).collect();
    json!({
        "name": report.name,
        "stem": report.stem,
        "facts": report.facts,
        "started_unix_s": report.started_unix_s,
        "start": comparison.start.sentence(),
        "trust": comparison.trust_line(),
        "distance": distance,
        "summary": comparison.summary(),
        "findings": comparison.sentences(),
        "tables": comparison.shown_tables(),
        "times": comparison.times,
        "pageblock_order": report.pageblock_order.get(),
        "page_bytes": report.page_bytes,
        "times_s": report.times_s,
        "zones": zones,
        "eras": comparison.eras.iter().map(|era| self::era(report, era)).collect::<Vec<_>>(),
        "machine_fallbacks": comparison.recorded.has_fallbacks.then(|| fallbacks(&report.machine_fallbacks)),
    })
}

/// Returns one era over time.
fn era(report: &TraceReport, era: &Measures) -> Value {
    let of_zones = |of: &dyn Fn(&ZoneOfReport) -> Value| report.zones.iter().map(of).collect::<Vec<_>>();
    let mapped: Vec<_> = TraceReport::mapped(&era.samples).collect();
    let maps = era.samples.iter().filter_map(|sample| sample.map.as_ref());
    let by_sample: Vec<_> = era.samples.iter().map(|sample| sample.fallbacks.clone()).collect();
    json!({
        "name": era.variant,
        "blocks": of_zones(&|zone| blocks(&era.samples, zone.rank, report.orders)),
        "unusable": of_zones(&|zone| unusable(&era.samples, zone.rank, report.orders)),
        "mixed": mapped.iter().map(|&at| era.samples[at].mixed).collect::<Vec<_>>(),
        "holds_ns": counted(&era.timing.holds_ns),
        "holds_touched": counted(&era.holds_touched),
        "fallbacks": fallbacks(&by_sample),
        "maps": {
            "samples": mapped,
            "pageblocks_per_cell": maps.clone().map(|map| map.pageblocks_per_cell).next(),
            "zones": of_zones(&|zone| {
                json!(packed(maps.clone().filter_map(|map| map.zones.get(zone.rank).map(Vec::as_slice))))
            }),
        },
    })
}

/// Returns the free blocks by order, type and sample; null for an order and type that never has a free block.
fn blocks(samples: &[ReplaySample], rank: usize, orders: usize) -> Value {
    let series = |order: usize, kind: usize| {
        let values = samples.iter().filter_map(|sample| Some(sample.zones.get(rank)?.blocks.of(order)[kind]));
        let values: Vec<_> = values.collect();
        if values.iter().all(|&blocks| blocks == 0) { Value::Null } else { json!(values) }
    };
    let of_order = |order| Migratetype::ALL.map(|kind| series(order, kind.index()));
    json!((0..orders).map(of_order).collect::<Vec<_>>())
}

/// Returns the unusable index by order and sample, in thousandths.
fn unusable(samples: &[ReplaySample], rank: usize, orders: usize) -> Value {
    let of_order = |order: usize| -> Vec<u64> {
        let zones = samples.iter().filter_map(|sample| sample.zones.get(rank));
        zones.map(|zone| zone.unusable_index.of(order)).collect()
    };
    json!((0..orders).map(of_order).collect::<Vec<_>>())
}

/// Returns rows of five numbers: the sample, the requested type, the found type, 1 for a claim or 0 for a steal, and
/// the number of events.
fn fallbacks(by_sample: &[Vec<FallbackCount>]) -> Value {
    let rows = by_sample.iter().enumerate().flat_map(|(number, counts)| {
        counts.iter().map(move |count| {
            let (wanted, found) = (count.wanted.index() as u64, count.found.index() as u64);
            [number as u64, wanted, found, u64::from(count.claimed), count.events]
        })
    });
    json!(rows.collect::<Vec<_>>())
}

/// Returns counts by powers of two without the zeros at the end.
fn counted(counts: &[u64]) -> &[u64] {
    &counts[..counts.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1)]
}

/// Returns the maps of one zone as text: runs of the changes from one map to the next.
///
/// A change is the exclusive or of the seven bits of a cell with those of the same cell in the previous map; the first
/// map changes from zeros. A run of equal changes is written as two hexadecimal digits and the length of the run. The
/// length is a number of base 26 with the digits A to Z; a run of one cell has no length. Maps are separated by `|`. A
/// run of zeros at the end of a map is omitted.
fn packed<'a>(maps: impl Iterator<Item = &'a [MapCell]>) -> Value {
    let mut before: Vec<u8> = Vec::new();
    let mut texts = Vec::new();
    let mut cells = 0;
    for map in maps {
        before.resize(map.len(), 0);
        cells = map.len();
        let changes: Vec<_> = map.iter().zip(&before).map(|(cell, before)| cell.0 ^ before).collect();
        before = map.iter().map(|cell| cell.0).collect();
        let mut text = String::new();
        let used = changes.iter().rposition(|&change| change != 0).map_or(0, |last| last + 1);
        for run in changes[..used].chunk_by(|one, next| one == next) {
            text += &run_text(run[0], run.len());
        }
        texts.push(text);
    }
    json!({ "cells": cells, "runs": texts.join("|") })
}

fn run_text(bits: u8, length: usize) -> String {
    let mut digits = Vec::new();
    let mut rest = if length > 1 { length } else { 0 };
    while rest > 0 {
        digits.push(char::from(b'A' + (rest % 26) as u8));
        rest /= 26;
    }
    format!("{bits:02x}{}", digits.iter().rev().collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_are_written_as_runs_of_changes() {
        let cells = |values: &[u8]| values.iter().map(|&value| MapCell(value)).collect::<Vec<_>>();
        let mut first = vec![0x17; 40];
        first.push(0x70);
        let mut second = first.clone();
        second[1] = 0x1f;
        let (first, second) = (cells(&first), cells(&second));
        let packed = packed([&first[..], &second[..], &second[..]].into_iter());
        assert_eq!(packed, json!({ "cells": 41, "runs": "17BO70|0008|" }));
    }
}
