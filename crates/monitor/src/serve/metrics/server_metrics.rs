//! The metrics of the sensor and the server.

use super::metric::Kind::{Counter, Gauge};
use super::metric::Row;
use super::phrases::{EXACT, NONE};
use super::values;

/// Metrics of the sensor and the server.
pub(super) const OF_SERVER: [Row; 13] = [
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
