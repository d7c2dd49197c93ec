//! The metrics of what the machine can give.

use super::metric::Kind::Gauge;
use super::metric::Row;
use super::phrases::{EXACT, JUDGED, MAP, NONE, SENSOR, SLOW};
use super::values;

/// Metrics of what the machine can give: what alerts are built on.
pub(super) const OF_VERDICTS: [Row; 4] = [
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
    (
        ("freehold_verdict_block_bytes", Gauge, "bytes", &["size"]),
        "The size of a block as a number.",
        (SENSOR, EXACT, NONE),
        values::verdict_block_bytes,
    ),
];
