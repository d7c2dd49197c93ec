//! Every metric: its meaning, source, exactness and cost.

use super::rows::Rows;
use super::scrape::Scrape;
use super::values;
use crate::model::{RATED, Rated};

/// One metric.
pub struct Metric {
    /// The name of its samples.
    pub name: String,
    /// Its kind in Prometheus's terms.
    pub kind: Kind,
    /// What its values count.
    pub unit: &'static str,
    /// Its labels.
    pub labels: &'static [&'static str],
    /// What it means.
    pub help: String,
    /// Where its values come from.
    pub source: &'static str,
    /// How exact its values are.
    pub exactness: &'static str,
    /// What one reading costs the machine.
    pub cost: &'static str,
    fill: Fill,
}

/// The kind of a metric in Prometheus's terms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A value that rises and falls.
    Gauge,
    /// A value that only rises.
    Counter,
    /// Always 1; the labels carry the information.
    Info,
}

impl Kind {
    /// Returns the suffix of the names of its samples.
    pub const fn ending(self) -> &'static str {
        match self {
            Self::Gauge => "",
            Self::Counter => "_total",
            Self::Info => "_info",
        }
    }

    /// Returns the word for documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gauge => "gauge",
            Self::Counter => "counter",
            Self::Info => "info",
        }
    }
}

/// How the values are found.
#[derive(Clone, Copy)]
enum Fill {
    By(fn(&Scrape, &mut Rows)),
    Rate(&'static Rated),
}

impl Metric {
    pub(super) fn fill(&self, scrape: &Scrape, rows: &mut Rows) {
        match self.fill {
            Fill::By(fill) => fill(scrape, rows),
            Fill::Rate(rated) => values::counter_of_vmstat(rated, scrape, rows),
        }
    }
}

const ZONE: &[&str] = &["node", "zone"];
const ZONE_ORDER: &[&str] = &["node", "zone", "order"];
const ZONE_TYPE: &[&str] = &["node", "zone", "migratetype"];

const SENSOR: &str = "the sensor of free blocks";
const TYPES: &str = "the sensor of free blocks; none with buddyinfo alone";
const ZONEINFO: &str = "`/proc/zoneinfo`";
const MAP: &str = "the pageblock map, `/proc/kpageflags`; needs root";

const COUNTED: &str = "each order exact with bpf and buddyinfo, sums over orders off by blocks that split or merge meanwhile; a lower \
     bound with pagetypeinfo where `freehold_capped` is 1";
const COUNTED_TYPES: &str = "as `freehold_free_blocks`, and older by `freehold_types_age_seconds`";
const DERIVED: &str =
    "computed from `freehold_free_blocks`, and as exact; to a thousandth, as the kernel rounds";
const KERNELS: &str = "as the kernel tells it";
const DRIFTS: &str = "the kernel's own, summed over its CPUs while they count on";
const EXACT: &str = "exact";
const JUDGED: &str = "the lower bound of `freehold check`, as old as `freehold_verdict_age_seconds`; without root what is free now is all \
     that is known";
const BY_AGE: &str = "as old as `freehold_map_age_seconds`";

const FREE: &str = "one reading serves all: `freehold_sensor_read_seconds_total`";
const NONE: &str = "none of its own";
const TEXT: &str = "one small file of `/proc` a sample";
const SLOW: &str = "spread over many samples";

/// A row of the table: `(name, kind, unit, labels)`, help, `(source, exactness, cost)`, values.
type Row = (
    (&'static str, Kind, &'static str, &'static [&'static str]),
    &'static str,
    (&'static str, &'static str, &'static str),
    fn(&Scrape, &mut Rows),
);

use Kind::{Counter, Gauge, Info};

/// Metrics of each zone's free memory.
const ZONES: [Row; 13] = [
    (
        ("freehold_free_blocks", Gauge, "blocks", ZONE_ORDER),
        "Free blocks of an order on the free lists of a zone.",
        (SENSOR, COUNTED, FREE),
        values::free_blocks,
    ),
    (
        ("freehold_free_blocks_by_type", Gauge, "blocks", &["node", "zone", "order", "migratetype"]),
        "Free blocks of an order on the free list of a migratetype.",
        (TYPES, COUNTED_TYPES, FREE),
        values::free_blocks_by_type,
    ),
    (
        ("freehold_free_pages", Gauge, "pages", ZONE),
        "Pages in free blocks of a zone, those on per-CPU lists not among them.",
        (SENSOR, COUNTED, FREE),
        values::free_pages,
    ),
    (
        ("freehold_available_blocks", Gauge, "blocks", ZONE_ORDER),
        "Blocks of an order that the free blocks of that order and above make up.",
        (SENSOR, "computed from `freehold_free_blocks`, and as exact", NONE),
        values::available_blocks,
    ),
    (
        ("freehold_unusable_index", Gauge, "ratio", ZONE_ORDER),
        "Share of free memory that cannot serve a request of an order, 0 to 1.",
        (SENSOR, DERIVED, NONE),
        values::unusable_index,
    ),
    (
        ("freehold_extfrag_index", Gauge, "ratio", ZONE_ORDER),
        "Why a request of an order would fail: towards 0 for lack of memory, towards 1 for fragmentation, -1 if it would not.",
        (SENSOR, DERIVED, NONE),
        values::extfrag_index,
    ),
    (
        ("freehold_capped", Gauge, "bool", ZONE),
        "Whether a number of free blocks is a lower bound because its source stopped counting at 100000.",
        (SENSOR, EXACT, NONE),
        values::capped,
    ),
    (
        ("freehold_pageblocks", Gauge, "pageblocks", ZONE_TYPE),
        "Pageblocks of a migratetype.",
        (TYPES, COUNTED_TYPES, FREE),
        values::pageblocks,
    ),
    (
        ("freehold_pageblocks_holding", Gauge, "pageblocks", &["node", "zone", "holds"]),
        "Pageblocks by what they hold: free, movable, mixed (pages that stay beside pages that move), stuck or unread.",
        (MAP, BY_AGE, SLOW),
        values::pageblocks_holding,
    ),
    (
        ("freehold_managed_pages", Gauge, "pages", ZONE),
        "Pages that the allocator manages in a zone.",
        (ZONEINFO, KERNELS, TEXT),
        values::managed_pages,
    ),
    (
        ("freehold_watermark_pages", Gauge, "pages", &["node", "zone", "mark"]),
        "A watermark of a zone (min, low, high), without the boost.",
        (ZONEINFO, KERNELS, TEXT),
        values::watermark_pages,
    ),
    (
        ("freehold_watermark_boost_pages", Gauge, "pages", ZONE),
        "What is on top of each watermark of a zone since a request had to take another type's pageblock.",
        (ZONEINFO, KERNELS, TEXT),
        values::watermark_boost_pages,
    ),
    (
        ("freehold_percpu_pages", Gauge, "pages", ZONE),
        "Free pages on the per-CPU lists of a zone.",
        (ZONEINFO, "the sum of lists that change while they are read", TEXT),
        values::percpu_pages,
    ),
];

/// Metrics of what the machine can give: what alerts are built on.
const VERDICTS: [Row; 3] = [
    (
        ("freehold_verdict_blocks", Gauge, "blocks", &["size", "when"]),
        "Blocks of a size that requests can have now, after-compaction, after-reclaim of clean page cache, and after-reclaim-and-compaction.",
        (MAP, JUDGED, SLOW),
        values::verdict_blocks,
    ),
    (
        ("freehold_verdict_state", Gauge, "bool", &["size", "state"]),
        "Whether this is how one block of a size can be had: available-now, after-setup, after-compaction, after-reclaim, after-reclaim-and-compaction, not-before-freed or unknown.",
        (MAP, JUDGED, SLOW),
        values::verdict_state,
    ),
    (
        ("freehold_verdict_age_seconds", Gauge, "seconds", &["size"]),
        "How much older than the last sample the oldest number in a verdict is.",
        (MAP, EXACT, NONE),
        values::verdict_age_seconds,
    ),
];

/// Metrics of the machine, the sensor and the server.
const OTHERS: [Row; 19] = [
    (
        ("freehold_pageblock_order", Gauge, "order", &[]),
        "The order of a pageblock.",
        (TYPES, EXACT, NONE),
        values::pageblock_order,
    ),
    (
        ("freehold_map_age_seconds", Gauge, "seconds", &[]),
        "How long ago the oldest part of the pageblock map was read.",
        (MAP, EXACT, NONE),
        values::map_age_seconds,
    ),
    (
        ("freehold_memory_pressure_seconds_total", Counter, "seconds", &["tasks"]),
        "Time for which some task, or every task that was not idle (full), waited for memory.",
        ("`/proc/pressure/memory`", "to a microsecond, since the boot", TEXT),
        values::pressure_seconds,
    ),
    (
        ("freehold_memory_bytes", Gauge, "bytes", &[]),
        "Memory of the machine.",
        ("`MemTotal` in `/proc/meminfo`", "as at the start of the server", NONE),
        values::memory_bytes,
    ),
    (
        ("freehold_page_size_bytes", Gauge, "bytes", &[]),
        "Memory of a page.",
        ("the system's configuration", EXACT, NONE),
        values::page_size_bytes,
    ),
    (
        ("freehold_machine_info", Info, "info", &["kernel_release", "cpus", "version"]),
        "The kernel, the CPUs that are online and the version of freehold.",
        (
            "`/proc/sys/kernel/osrelease`, `/sys/devices/system/cpu/online`",
            "as at the start of the server",
            NONE,
        ),
        values::machine_info,
    ),
    (
        ("freehold_up", Gauge, "bool", &[]),
        "Whether the last sample could be taken; if not, all numbers are those of the last one that could.",
        ("the server", EXACT, NONE),
        values::up,
    ),
    (
        ("freehold_sensor_source", Gauge, "bool", &["source"]),
        "Whether free blocks were last read from a source: bpf, pagetypeinfo or buddyinfo.",
        ("the server", EXACT, NONE),
        values::sensor_source,
    ),
    (
        ("freehold_types_age_seconds", Gauge, "seconds", &[]),
        "How much older numbers by migratetype are than the totals.",
        ("the server", "to a millisecond", NONE),
        values::types_age_seconds,
    ),
    (
        ("freehold_sample_age_seconds", Gauge, "seconds", &[]),
        "Time since the last sample.",
        ("the server", EXACT, NONE),
        values::sample_age_seconds,
    ),
    (
        ("freehold_sample_interval_seconds", Gauge, "seconds", &[]),
        "Time from one sample to the next.",
        ("`--interval`", EXACT, NONE),
        values::sample_interval_seconds,
    ),
    (
        ("freehold_samples_total", Counter, "samples", &[]),
        "Samples that were taken.",
        ("the server", EXACT, NONE),
        values::samples,
    ),
    (
        ("freehold_sample_errors_total", Counter, "samples", &[]),
        "Samples that could not be taken.",
        ("the server", EXACT, NONE),
        values::sample_errors,
    ),
    (
        ("freehold_sensor_last_read_seconds", Gauge, "seconds", &[]),
        "Time that the last reading of free blocks took.",
        ("the server", "wall time, to a nanosecond", NONE),
        values::last_read_seconds,
    ),
    (
        ("freehold_sensor_read_seconds_total", Counter, "seconds", &[]),
        "Time that all readings of free blocks took.",
        ("the server", "wall time, to a nanosecond", NONE),
        values::read_seconds,
    ),
    (
        ("freehold_connections", Gauge, "connections", &[]),
        "Connections to this server that are open.",
        ("the server", EXACT, NONE),
        values::connections,
    ),
    (
        ("freehold_connections_refused_total", Counter, "connections", &[]),
        "Connections that were refused because too many were open.",
        ("the server", EXACT, NONE),
        values::connections_refused,
    ),
    (
        ("freehold_process_cpu_seconds_total", Counter, "seconds", &[]),
        "Processor time of this server.",
        ("the process's clock", EXACT, NONE),
        values::process_cpu_seconds,
    ),
    (
        ("freehold_process_resident_memory_bytes", Gauge, "bytes", &[]),
        "Memory of this server that is resident.",
        (
            "`/proc/self/statm`",
            "late by up to the kernel's per-thread differences",
            "one small file of `/proc` a scrape",
        ),
        values::process_resident_memory_bytes,
    ),
];

/// Returns every metric, in the order of the text.
pub fn table() -> Vec<Metric> {
    let metric = |row: &Row| {
        let ((name, kind, unit, labels), help, (source, exactness, cost), fill) = *row;
        let (name, help) = (name.to_owned(), help.to_owned());
        Metric { name, kind, unit, labels, help, source, exactness, cost, fill: Fill::By(fill) }
    };
    let rate = |rated: &'static Rated| Metric {
        name: format!("freehold_vmstat_{}_total", rated.name),
        kind: Counter,
        // A huge page counts as one event, and a fault is no page.
        unit: if rated.meaning.starts_with("pages ") { "pages" } else { "events" },
        labels: &[],
        help: format!("Since the boot: {}.", rated.meaning),
        source: "`/proc/vmstat`",
        exactness: DRIFTS,
        cost: TEXT,
        fill: Fill::Rate(rated),
    };
    let before = ZONES.iter().chain(&VERDICTS).map(metric);
    before.chain(RATED.iter().map(rate)).chain(OTHERS.iter().map(metric)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts_huge_pages_and_faults_is_not_in_pages() {
        for metric in table().iter().filter(|metric| metric.name.contains("_vmstat_thp_")) {
            assert_eq!(metric.unit, "events", "{}", metric.name);
        }
    }

    #[test]
    fn names_follow_prometheus() {
        let table = table();
        for metric in &table {
            assert!(metric.name.starts_with("freehold_"), "{}", metric.name);
            assert!(metric.name.ends_with(metric.kind.ending()), "{}", metric.name);
            let stem = metric.name.strip_suffix(metric.kind.ending()).unwrap();
            for base in ["seconds", "bytes"] {
                assert_eq!(metric.unit == base, stem.ends_with(base), "{}", metric.name);
            }
            assert!(!stem.ends_with("_total") && metric.help.ends_with('.'), "{}", metric.name);
        }
        let mut names: Vec<_> = table.iter().map(|metric| &metric.name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), table.len(), "each name once");
    }
}
