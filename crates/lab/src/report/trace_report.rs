//! The data of one trace in a report.

use freehold::Order;
use freehold_measure::grouped;

use crate::compare::{Comparison, Place};
use crate::recorded::{FallbackCount, recorded_fallbacks};
use crate::replay::{Lab, ReplaySample};

/// The data of one trace in a report. Its size does not depend on the size of the trace.
#[derive(Clone, Debug)]
pub(super) struct TraceReport {
    /// The path that the user gave.
    pub(super) name: String,
    /// The file name without extension; different for each trace of a report.
    pub(super) stem: String,
    /// The origin of the trace, as pairs of a name and a text.
    pub(super) facts: Vec<(&'static str, String)>,
    /// The start of the recording, in seconds since 1970; 0 if unknown.
    pub(super) started_unix_s: u64,
    pub(super) pageblock_order: Order,
    /// The number of orders of the machine.
    pub(super) orders: usize,
    pub(super) page_bytes: u64,
    /// The zones, in the order of the machine's snapshot.
    pub(super) zones: Vec<ZoneOfReport>,
    /// The times of the samples, in seconds since the first event; the same in every replay.
    pub(super) times_s: Vec<f64>,
    /// The recorded fallbacks of the machine in each interval that ends at one of these times.
    pub(super) machine_fallbacks: Vec<Vec<FallbackCount>>,
    pub(super) comparison: Comparison,
}

/// One zone.
#[derive(Clone, Debug)]
pub(super) struct ZoneOfReport {
    pub(super) name: String,
    /// The index of the zone in samples and maps.
    pub(super) rank: usize,
    pub(super) managed: u64,
    /// The first frame of the zone's first pageblock.
    pub(super) first_pfn: u64,
}

impl TraceReport {
    pub(super) fn new(name: &str, lab: &Lab<'_>, comparison: Comparison) -> Self {
        let order = lab.machine.pageblock_order;
        let zones = lab.machine.zones.iter().enumerate().map(|(number, config)| ZoneOfReport {
            name: lab.machine.zone_name(number),
            rank: lab.machine.engine_rank(number),
            managed: config.managed,
            first_pfn: config.start.0 >> order.get() << order.get(),
        });
        let samples = comparison.eras.first().map_or(&[][..], |era| &era.samples);
        let times_ns: Vec<_> = samples.iter().map(|sample| sample.time_ns).collect();
        let first_ns = times_ns.first().copied().unwrap_or(0);
        let file = name.rsplit('/').next().unwrap_or(name);
        let stem = file.strip_suffix(".arrows").unwrap_or(file);
        // A name such as `..` must not lead to files outside of the folder.
        let stem = if stem.trim_start_matches('.').is_empty() { "trace" } else { stem };
        Self {
            name: name.to_owned(),
            stem: stem.to_owned(),
            facts: facts(lab),
            started_unix_s: lab.trace.origin.started_unix_s,
            pageblock_order: order,
            orders: lab.machine.max_order.index() + 1,
            page_bytes: lab.trace.origin.page_bytes,
            zones: zones.collect(),
            times_s: times_ns.iter().map(|&time_ns| (time_ns - first_ns) as f64 / 1e9).collect(),
            machine_fallbacks: recorded_fallbacks(lab.trace.events, &times_ns),
            comparison,
        }
    }

    /// Returns the zone with the most pages.
    pub(super) fn main_zone(&self) -> Option<&ZoneOfReport> {
        self.zones.iter().max_by_key(|zone| zone.managed)
    }

    /// Returns the numbers of the samples that have a map.
    pub(super) fn mapped(samples: &[ReplaySample]) -> impl Iterator<Item = usize> {
        samples.iter().enumerate().filter(|(_, sample)| sample.map.is_some()).map(|(number, _)| number)
    }
}

impl ZoneOfReport {
    pub(super) fn place(&self) -> Place<'_> {
        Place { name: &self.name, rank: self.rank }
    }
}

/// Returns the origin of a trace, as pairs of a name and a text.
fn facts(lab: &Lab<'_>) -> Vec<(&'static str, String)> {
    let (origin, events) = (lab.trace.origin, lab.trace.events);
    let span = events.first().zip(events.last());
    let seconds = span.map_or(0.0, |(first, last)| (last.time_ns - first.time_ns) as f64 / 1e9);
    let or = |text: &str, other: &str| if text.is_empty() { other.to_owned() } else { text.to_owned() };
    let managed: u64 = lab.machine.zones.iter().map(|zone| zone.managed).sum();
    let mib = managed.saturating_mul(origin.page_bytes) >> 20;
    let mut facts = vec![
        ("events", format!("{} in {seconds:.1} s", grouped(events.len() as u64))),
        (
            "recorded kernel",
            format!(
                "{}, {}",
                or(&origin.kernel_release, "unnamed"),
                or(&origin.architecture, "architecture unknown")
            ),
        ),
        (
            "recorded machine",
            format!(
                "{}, {} CPUs, {} MiB in {} zones",
                or(&origin.cpu_model, "processor unknown"),
                origin.cpus,
                grouped(mib),
                lab.machine.zones.len()
            ),
        ),
        ("recorded command", or(&origin.command.join(" "), "the whole machine")),
        ("recorder", or(&origin.recorder, "unknown")),
    ];
    if let Some(ending) = lab.trace.ending {
        let lost: u64 = ending.lost_by_cpu.iter().copied().fold(0, u64::saturating_add);
        facts.push(("lost events", grouped(lost)));
        let cost = &ending.disturbance;
        if cost.wall_ns > 0 {
            let seconds = |ns: u64| format!("{:.2} s", ns as f64 / 1e9);
            facts.push((
                "cost of recording",
                format!(
                    "{} of CPU time in {}, {} events of its own",
                    seconds(cost.cpu_ns),
                    seconds(cost.wall_ns),
                    grouped(cost.own_events)
                ),
            ));
        }
    } else {
        facts.push((
            "end of the recording",
            "cut short: the state of the machine there is unknown".to_owned(),
        ));
    }
    facts
}
