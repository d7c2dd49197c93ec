//! What metrics have in common: labels, sources, exactness and cost.

pub(super) const ZONE: &[&str] = &["node", "zone"];
pub(super) const ZONE_ORDER: &[&str] = &["node", "zone", "order"];
pub(super) const ZONE_TYPE: &[&str] = &["node", "zone", "migratetype"];

pub(super) const SENSOR: &str = "the sensor of free blocks";
pub(super) const TYPES: &str = "the sensor of free blocks; none with buddyinfo alone";
pub(super) const ZONEINFO: &str = "`/proc/zoneinfo`";
pub(super) const MAP: &str = "the pageblock map, `/proc/kpageflags`; needs root";

pub(super) const COUNTED: &str = "each order exact with bpf and buddyinfo, sums over orders off by blocks that split or merge meanwhile; a lower \
     bound with pagetypeinfo where `freehold_capped` is 1";
pub(super) const COUNTED_TYPES: &str = "as `freehold_free_blocks`, and older by `freehold_types_age_seconds`";
pub(super) const DERIVED: &str =
    "computed from `freehold_free_blocks`, and as exact; to a thousandth, as the kernel rounds";
pub(super) const KERNELS: &str = "as the kernel reports it";
pub(super) const DRIFTS: &str = "the kernel's own, summed over its CPUs while they count on";
pub(super) const EXACT: &str = "exact";
pub(super) const JUDGED: &str = "the lower bound of what `freehold repair` reaches, as old as `freehold_verdict_age_seconds`; without root, \
     only the blocks that are free now are known";
pub(super) const FORECAST: &str = "`docs/evidence/calibration.md` has how often such forecasts came true; as old as \
     `freehold_verdict_age_seconds`";
pub(super) const BY_AGE: &str = "as old as `freehold_map_age_seconds`";

pub(super) const FREE: &str = "one reading serves all: `freehold_sensor_read_seconds_total`";
pub(super) const NONE: &str = "none of its own";
pub(super) const TEXT: &str = "one small file of `/proc` a sample";
pub(super) const SLOW: &str = "spread over many samples";
