//! What there is of the asked blocks, in one zone and in all.

use freehold_trace::ZoneSnapshot;
use serde::Serialize;

/// Blocks of one zone.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ZoneSupply {
    /// NUMA node.
    pub node: u32,
    /// Name of the zone.
    pub name: String,
    /// Free blocks now.
    pub now: u64,
    /// Free blocks once memory that the kernel has not set up yet is set up.
    pub deferred: u64,
    /// Free blocks that there surely are after compaction.
    pub compacted: Option<u64>,
    /// Free blocks that there are at most after compaction: if it gives up nowhere, and no per-CPU list keeps
    /// pages back.
    pub compacted_at_most: Option<u64>,
    /// Free blocks once clean page cache that nobody maps was dropped.
    pub reclaimed: Option<u64>,
    /// Free blocks after that and compaction.
    pub both: Option<u64>,
    /// First frame of the pageblock at which compaction would give up, if it would: a dirty compound page of
    /// page cache there can neither be split nor be placed as a whole.
    pub gives_up_at_pfn: Option<u64>,
    /// Free blocks now that ordinary requests cannot take: those of the types `HighAtomic` and Isolate, and
    /// CMA, which only movable pages may lie in. 0 where types are not known.
    pub unusable: u64,
    /// Blocks that the watermarks and the lowmem reserve let requests have.
    pub allowed: u64,
    /// The same, once page cache was dropped.
    pub allowed_reclaimed: u64,
}

/// Blocks of the asked order that requests can have: what the watermarks keep back is taken off.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Supply {
    /// Now, in free blocks.
    pub now: u64,
    /// Beyond these, in memory that the kernel sets up before it refuses a request.
    pub deferred: u64,
    /// After compaction, at least.
    pub after_compaction: Option<u64>,
    /// After compaction, at most.
    pub after_compaction_at_most: Option<u64>,
    /// After reclaim of clean page cache.
    pub after_reclaim: Option<u64>,
    /// After both.
    pub after_reclaim_and_compaction: Option<u64>,
}

impl Supply {
    /// The sum over zones.
    pub(super) fn of(zones: &[ZoneSupply]) -> Self {
        let known = |blocks: &dyn Fn(&ZoneSupply) -> Option<u64>| {
            zones.iter().map(blocks).try_fold(0_u64, |sum, blocks| Some(sum + blocks?))
        };
        let of = |z: &ZoneSupply, blocks: u64, allowed: u64| blocks.saturating_sub(z.unusable).min(allowed);
        Self {
            now: zones.iter().map(|z| of(z, z.now, z.allowed)).sum(),
            deferred: zones.iter().map(|z| z.deferred).sum(),
            after_compaction: known(&|z| Some(of(z, z.compacted?, z.allowed))),
            after_compaction_at_most: known(&|z| Some(of(z, z.compacted_at_most?, z.allowed))),
            after_reclaim: known(&|z| Some(of(z, z.reclaimed?, z.allowed_reclaimed))),
            after_reclaim_and_compaction: known(&|z| Some(of(z, z.both?, z.allowed_reclaimed))),
        }
    }
}

/// How many blocks of `order` the zone lets requests have while it keeps its reserve, with `free` free pages that
/// they can take.
///
/// The reserve is the low watermark, below which the kernel starts to reclaim, and the zone's protection
/// against requests that could be served from higher zones.
///
/// Linux counterpart: `__zone_watermark_ok`.
pub(super) fn allowed(zone: &ZoneSnapshot, order: u8, free: u64) -> u64 {
    let reserve = zone.watermark_low + zone.boost + zone.protection.iter().max().copied().unwrap_or(0);
    free.saturating_sub(reserve) >> order
}
