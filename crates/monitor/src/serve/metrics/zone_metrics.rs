//! The metrics of each zone.

use super::metric::Kind::Gauge;
use super::metric::Row;
use super::phrases::{
    BY_AGE, COUNTED, COUNTED_TYPES, DERIVED, EXACT, FREE, KERNELS, MAP, NONE, SENSOR, SLOW, TEXT, TYPES,
    ZONE, ZONE_ORDER, ZONE_TYPE, ZONEINFO,
};
use super::values;

/// Metrics of each zone's free memory.
pub(super) const OF_ZONES: [Row; 13] = [
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
