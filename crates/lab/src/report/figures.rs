//! All figures of a comparison in long form, with one row for each value.

use freehold::{Migratetype, Order};
use freehold_measure::Row;
use freehold_measure::histogram::ByPowerOfTwo;
use freehold_measure::{Table, csv_line};

use super::trace_report::TraceReport;
use crate::recorded::FallbackCount;
use crate::replay::{Measures, ReplaySample};

/// The name of the column of the recorded machine.
const MACHINE: &str = "machine";

/// One value and its keys.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Figure {
    pub(super) trace: String,
    /// The era, or `machine`.
    pub(super) era: String,
    /// The era, and the switches that differ from it.
    pub(super) variant: String,
    pub(super) group: String,
    pub(super) measure: String,
    pub(super) unit: String,
    pub(super) zone: Option<String>,
    pub(super) order: Option<u8>,
    /// The type of a block, or the requested type.
    pub(super) migratetype: Option<&'static str>,
    /// The type of the block that a fallback found.
    pub(super) found: Option<&'static str>,
    /// The lower bound of the counted sizes; the upper bound is twice as large.
    pub(super) at_least: Option<u64>,
    /// Seconds since the first event.
    pub(super) time_s: Option<f64>,
    pub(super) value: f64,
}

/// Returns all figures of a trace: of the tables, then over time, then of distributions.
pub(super) fn figures(report: &TraceReport) -> Vec<Figure> {
    let comparison = &report.comparison;
    let mut figures = Vec::new();
    let of = |variant: &str| Figure {
        trace: report.name.clone(),
        era: variant.split(" with").next().unwrap_or(variant).to_owned(),
        variant: variant.to_owned(),
        ..Figure::default()
    };
    for era in &comparison.eras {
        over_time(report, era, &of(&era.variant), &mut figures);
        distributions(era, &of(&era.variant), &mut figures);
        let by_sample = era.samples.iter().map(|sample| sample.fallbacks.as_slice());
        fallbacks(report, by_sample, &of(&era.variant), &mut figures);
    }
    let recorded = report.machine_fallbacks.iter().map(Vec::as_slice);
    fallbacks(report, recorded, &of(MACHINE), &mut figures);
    for zone in comparison.distance.iter().flat_map(|distance| &distance.zones) {
        for kind in Migratetype::ALL {
            for (order, &blocks) in zone.machine[kind.index()].iter().enumerate() {
                let free = Figure {
                    zone: Some(zone.zone.clone()),
                    order: Some(order as u8),
                    migratetype: Some(kind.name()),
                    time_s: report.times_s.last().copied(),
                    ..of(MACHINE).valued("free blocks", "free blocks", "blocks", blocks as f64)
                };
                figures.extend((blocks > 0).then_some(free));
            }
        }
    }
    let (overview, systems) = (comparison.overview(), comparison.systems());
    let mut all: Vec<_> = tabled(&overview, &of).chain(tabled(&systems, &of)).collect();
    all.extend(figures);
    all
}

/// Returns the figures of a table, without the indices, which are in the figures over time.
fn tabled<'a>(table: &'a Table, of: &'a impl Fn(&str) -> Figure) -> impl Iterator<Item = Figure> + 'a {
    let rows = table.rows.iter().filter(|row| row.group != "fragmentation");
    let cells =
        rows.flat_map(|row| table.columns.iter().zip(&row.cells).map(move |(name, cell)| (row, name, cell)));
    cells.filter_map(move |(row, name, &cell)| {
        let value = cell.real()?;
        let Row { group, measure, unit, .. } = row;
        Some(of(name).valued(group, measure, unit, value))
    })
}

impl Figure {
    fn valued(self, group: &str, measure: &str, unit: &str, value: f64) -> Self {
        Self { group: group.to_owned(), measure: measure.to_owned(), unit: unit.to_owned(), value, ..self }
    }
}

fn over_time(report: &TraceReport, era: &Measures, of: &Figure, figures: &mut Vec<Figure>) {
    for (sample, &time_s) in era.samples.iter().zip(&report.times_s) {
        let of = Figure { time_s: Some(time_s), ..of.clone() };
        for (name, value) in [("mixed pageblocks", sample.mixed), ("list nodes visited", sample.nodes)] {
            figures.extend(value.map(|value| of.clone().valued("over time", name, "", value as f64)));
        }
        for zone in &report.zones {
            let Some(state) = sample.zones.get(zone.rank) else { continue };
            let of = Figure { zone: Some(zone.name.clone()), ..of.clone() };
            figures.push(of.clone().valued("over time", "free pages", "pages", state.free_pages as f64));
            for order in Order::ZERO.up_to(state.free_blocks.largest()) {
                let of = Figure { order: Some(order.get()), ..of.clone() };
                let at = order.index();
                let unusable = state.unusable_index[at] as f64 / 1000.0;
                figures.push(of.clone().valued("over time", "unusable_index", "", unusable));
                let extfrag = state.extfrag_index[at] as f64 / 1000.0;
                figures.push(of.clone().valued("over time", "extfrag_index", "", extfrag));
                for kind in Migratetype::ALL {
                    let seen = |other: &ReplaySample| {
                        other.zones.get(zone.rank).is_some_and(|zone| zone.blocks.of(at)[kind.index()] > 0)
                    };
                    if era.samples.iter().any(seen) {
                        let of = Figure { migratetype: Some(kind.name()), ..of.clone() };
                        let blocks = state.blocks[at][kind.index()] as f64;
                        figures.push(of.valued("free blocks", "free blocks", "blocks", blocks));
                    }
                }
            }
        }
    }
}

fn distributions(era: &Measures, of: &Figure, figures: &mut Vec<Figure>) {
    let mut add = |measure: &str, unit: &str, holds: &ByPowerOfTwo| {
        for (power, &count) in holds.iter().enumerate().filter(|(_, count)| **count > 0) {
            let of = Figure { at_least: Some(1 << power), ..of.clone() };
            figures.push(of.valued("zone lock", measure, unit, count as f64));
        }
    };
    add("holds by time", "ns", &era.timing.holds_ns);
    add("holds by pages touched", "pages", &era.holds_touched);
}

fn fallbacks<'a>(
    report: &TraceReport,
    by_sample: impl Iterator<Item = &'a [FallbackCount]>,
    of: &Figure,
    figures: &mut Vec<Figure>,
) {
    for (counts, &time_s) in by_sample.zip(&report.times_s) {
        figures.extend(counts.iter().map(|count| {
            let measure = if count.claimed {
                "claims since the sample before"
            } else {
                "steals since the sample before"
            };
            let of = of.clone().valued("fallback", measure, "events", count.events as f64);
            let (migratetype, found) = (Some(count.wanted.name()), Some(count.found.name()));
            Figure { migratetype, found, time_s: Some(time_s), ..of }
        }));
    }
}

/// The names of the columns in all forms.
pub(super) const COLUMNS: [&str; 13] = [
    "trace",
    "era",
    "variant",
    "group",
    "measure",
    "unit",
    "zone",
    "order",
    "migratetype",
    "found",
    "at_least",
    "time_s",
    "value",
];

/// Returns CSV with one header line (RFC 4180). Unknown values are empty.
pub(super) fn to_csv(figures: &[Figure]) -> String {
    let mut text = String::new();
    csv_line(&mut text, COLUMNS.iter().map(|&name| name.to_owned()));
    for figure in figures {
        let names =
            [&figure.trace, &figure.era, &figure.variant, &figure.group, &figure.measure, &figure.unit];
        let maybe = |value: Option<&str>| value.unwrap_or_default().to_owned();
        let keys = [
            maybe(figure.zone.as_deref()),
            figure.order.map_or(String::new(), |value| value.to_string()),
            maybe(figure.migratetype),
            maybe(figure.found),
            figure.at_least.map_or(String::new(), |value| value.to_string()),
            figure.time_s.map_or(String::new(), |value| value.to_string()),
            figure.value.to_string(),
        ];
        csv_line(&mut text, names.into_iter().cloned().chain(keys));
    }
    text
}
