//! Every metric, in the order of the text.

use super::metric::Kind::{self, Counter, Gauge, Info};
use super::metric::{Fill, Metric, Row};
use super::phrases::{
    BY_AGE, COUNTED, COUNTED_TYPES, DERIVED, DRIFTS, EXACT, FORECAST, FREE, JUDGED, KERNELS, MAP, NONE,
    SENSOR, SLOW, TEXT, TYPES, ZONE, ZONE_ORDER, ZONE_TYPE, ZONEINFO,
};
use super::values;
use crate::model::{RATED, Rated};

/// Returns every metric, in the order of the text.
pub fn table() -> Vec<Metric> {
    let metric = |row: &Row| {
        let ((name, kind, unit, labels), help, (source, exactness, cost), fill) = *row;
        let (name, help) = (name.to_owned(), help.to_owned());
        Metric { name, kind, unit, labels, help, source, exactness, cost, fill: Fill::By(fill) }
    };
    let rate = |rated: &'static Rated| Metric {
        name: format!("freehold_vmstat_{}_total", rated.name),
        kind: Kind::Counter,
        // A huge page counts as one event, and a fault is no page.
        unit: if rated.meaning.starts_with("pages ") { "pages" } else { "events" },
        labels: &[],
        help: format!("Since the boot: {}.", rated.meaning),
        source: "`/proc/vmstat`",
        exactness: DRIFTS,
        cost: TEXT,
        fill: Fill::Rate(rated),
    };
    let before = OF_ZONES.iter().chain(&OF_VERDICTS).map(metric);
    before.chain(RATED.iter().map(rate)).chain(OF_MACHINE.iter().chain(&OF_SERVER).map(metric)).collect()
}

/// Metrics of each zone's free memory.
const OF_ZONES: [Row; 13] = [
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
        "Pageblocks by content: free, movable, mixed (movable and unmovable pages), stuck (unmovable pages) or unread.",
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
        "Pages that the kernel adds to each watermark of a zone after a request took another migratetype's pageblock.",
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
const OF_VERDICTS: [Row; 7] = [
    (
        ("freehold_verdict_blocks", Gauge, "blocks", &["size", "when"]),
        "Lower bound of the blocks of a size that requests can have now, after-compaction, after-reclaim of clean page cache, and after-reclaim-and-compaction. For an alert use freehold_need_exit_code.",
        (MAP, JUDGED, SLOW),
        values::verdict_blocks,
    ),
    (
        ("freehold_verdict_state", Gauge, "bool", &["size", "state"]),
        "Whether this is how the number of blocks that --need names can be had; absent without --need: available-now, after-setup, after-compaction, after-reclaim, after-reclaim-and-compaction, undecided, not-before-freed or unknown.",
        (MAP, JUDGED, SLOW),
        values::verdict_state,
    ),
    (
        ("freehold_need_blocks", Gauge, "blocks", &["size"]),
        "The number of blocks that --need names.",
        ("`--need`", EXACT, NONE),
        values::need_blocks,
    ),
    (
        ("freehold_need_exit_code", Gauge, "code", &["size"]),
        "The exit code of freehold check for the number of blocks that --need names: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.",
        (MAP, FORECAST, SLOW),
        values::need_exit_code,
    ),
    (
        ("freehold_need_probability", Gauge, "ratio", &["size"]),
        "The probability that a request gets the number of blocks that --need names; absent for blocks above the largest order.",
        (MAP, FORECAST, SLOW),
        values::need_probability,
    ),
    (
        ("freehold_verdict_age_seconds", Gauge, "seconds", &["size"]),
        "How much older than the last sample the oldest number in a verdict is.",
        (MAP, EXACT, NONE),
        values::verdict_age_seconds,
    ),
    (
        ("freehold_verdict_block_bytes", Gauge, "bytes", &["size"]),
        "The size of a block as a number.",
        (SENSOR, EXACT, NONE),
        values::verdict_block_bytes,
    ),
];

/// Metrics of the machine as a whole.
const OF_MACHINE: [Row; 9] = [
    (
        ("freehold_machine_free_pages", Gauge, "pages", &[]),
        "Pages in free blocks of all zones, those on per-CPU lists not among them.",
        (SENSOR, COUNTED, FREE),
        values::machine_free_pages,
    ),
    (
        ("freehold_machine_percpu_pages", Gauge, "pages", &[]),
        "Free pages on the per-CPU lists of all zones.",
        (ZONEINFO, "the sum of lists that change while they are read", TEXT),
        values::machine_percpu_pages,
    ),
    (
        ("freehold_machine_managed_pages", Gauge, "pages", &[]),
        "Pages that the allocator manages in all zones.",
        (ZONEINFO, KERNELS, TEXT),
        values::machine_managed_pages,
    ),
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
];

/// Metrics of the sensor and the server.
const OF_SERVER: [Row; 13] = [
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
