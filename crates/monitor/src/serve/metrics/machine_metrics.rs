//! The metrics of the machine as a whole.

use super::metric::Kind::{Counter, Gauge, Info};
use super::metric::Row;
use super::phrases::{COUNTED, EXACT, FREE, KERNELS, MAP, NONE, SENSOR, TEXT, TYPES, ZONEINFO};
use super::values;

/// Metrics of the machine as a whole.
pub(super) const OF_MACHINE: [Row; 9] = [
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
