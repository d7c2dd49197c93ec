//! The free blocks of the requested order, in one zone and in all zones.

use freehold::Migratetype;
use freehold_linux::procfs::FreeReserves;
use freehold_linux::sensor::ZoneFreeBlocks;
use freehold_trace::ZoneSnapshot;
use serde::Serialize;

/// Free blocks of one zone, before watermarks are taken off.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ZoneSupply {
    /// NUMA node.
    pub node: u32,
    /// Name of the zone.
    pub name: String,
    /// Free blocks now.
    pub now: u64,
    /// Additional free blocks in memory that the kernel has not set up yet.
    pub deferred: u64,
    /// Free blocks after compaction, the lower bound.
    pub compacted: Option<u64>,
    /// Free blocks after compaction, the upper bound: compaction never gives up, and no per-CPU list
    /// keeps pages.
    pub compacted_at_most: Option<u64>,
    /// Free blocks after clean, unmapped page cache is dropped.
    pub reclaimed: Option<u64>,
    /// Free blocks after that and after compaction, the lower bound.
    pub both: Option<u64>,
    /// The upper bound; `None` for contiguous ranges, whose states say which may be had.
    pub both_at_most: Option<u64>,
    /// First frame of the pageblock at which compaction may give up, because a dirty compound page of
    /// page cache there cannot be split and may find no place.
    pub gives_up_at_pfn: Option<u64>,
    /// Free blocks that ordinary requests cannot use: those of the types `HighAtomic` and Isolate,
    /// and CMA, which only movable pages may use. If types are unknown, the most that the zone's reserves can contain.
    pub unusable: u64,
    /// Free pages in reserves, if only their number is known and not which blocks contain them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reserved_pages: Option<FreeReserves>,
    /// The most blocks that requests may take above the watermark and the lowmem reserve.
    pub allowed: u64,
    /// The same after page cache is dropped.
    pub allowed_reclaimed: u64,
    /// The same as `allowed` after compaction, before which CPUs return pages of their lists, at least.
    pub allowed_compacted: u64,
    /// The same at most: their lists are empty then.
    pub allowed_compacted_at_most: u64,
    /// The same as both, after page cache is dropped, too.
    pub allowed_both: u64,
    /// The same at most.
    pub allowed_both_at_most: u64,
}

/// Blocks of the requested order that requests can have above the watermarks.
///
/// More work never yields fewer: a request that is served after less work does not wait for the rest.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Supply {
    /// Free blocks now.
    pub now: u64,
    /// Additional blocks in memory that the kernel sets up before it fails a request.
    pub deferred: u64,
    /// Blocks after compaction, the lower bound.
    pub after_compaction: Option<u64>,
    /// Blocks after compaction, the upper bound.
    pub after_compaction_at_most: Option<u64>,
    /// Blocks after clean page cache is dropped.
    pub after_reclaim: Option<u64>,
    /// Blocks after page cache is dropped and memory compacted, the lower bound.
    pub after_reclaim_and_compaction: Option<u64>,
    /// The upper bound; `None` for contiguous ranges.
    pub after_reclaim_and_compaction_at_most: Option<u64>,
}

impl Supply {
    /// Returns the sum over zones.
    pub(super) fn of(zones: &[ZoneSupply]) -> Self {
        let known = |blocks: &dyn Fn(&ZoneSupply) -> Option<u64>| {
            zones.iter().map(blocks).try_fold(0_u64, |sum, blocks| Some(sum.saturating_add(blocks?)))
        };
        let of = |z: &ZoneSupply, blocks: u64, allowed: u64| blocks.saturating_sub(z.unusable).min(allowed);
        let now = |z: &ZoneSupply| of(z, z.now, z.allowed);
        let compacted = |z: &ZoneSupply| Some(of(z, z.compacted?, z.allowed_compacted).max(now(z)));
        let at_most = |z: &ZoneSupply| {
            Some(of(z, z.compacted_at_most?, z.allowed_compacted_at_most).max(compacted(z)?))
        };
        let reclaimed = |z: &ZoneSupply| Some(of(z, z.reclaimed?, z.allowed_reclaimed).max(now(z)));
        let both =
            |z: &ZoneSupply| Some(of(z, z.both?, z.allowed_both).max(compacted(z)?).max(reclaimed(z)?));
        let both_at_most = |z: &ZoneSupply| {
            Some(of(z, z.both_at_most?, z.allowed_both_at_most).max(both(z)?).max(at_most(z)?))
        };
        Self {
            now: known(&|z| Some(now(z))).unwrap_or(0),
            deferred: known(&|z| Some(z.deferred)).unwrap_or(0),
            after_compaction: known(&compacted),
            after_compaction_at_most: known(&at_most),
            after_reclaim: known(&reclaimed),
            after_reclaim_and_compaction: known(&both),
            after_reclaim_and_compaction_at_most: known(&both_at_most),
        }
    }
}

/// Returns how many blocks of `order` requests may take from `free` free pages while the zone keeps its
/// reserve.
///
/// The reserve is the low watermark, below which kswapd is woken, and the zone's lowmem reserve, `protection`, against
/// requests that higher zones could serve.
///
/// Linux counterpart: `__zone_watermark_ok`.
pub(super) fn allowed(zone: &ZoneSnapshot, order: u8, free: u64, protection: u64) -> u64 {
    above(zone.watermark_low.saturating_add(zone.boost), order, free, protection)
}

/// Returns the same above another mark.
pub(super) fn above(mark: u64, order: u8, free: u64, protection: u64) -> u64 {
    free.saturating_sub(mark.saturating_add(protection)) >> order
}

/// Returns free blocks of `order`, and free pages, on lists that ordinary requests cannot use. If only the pages are known, they
/// fill as many blocks as they can.
pub(super) fn unusable(free: &ZoneFreeBlocks, order: u8) -> (u64, u64) {
    let Some(by_type) = &free.by_type else {
        let pages = free.reserves.map_or(0, FreeReserves::pages);
        return ((pages >> order).min(free.blocks_from(usize::from(order))), pages);
    };
    let pages_from = |from: usize| -> u64 {
        let lists = [Migratetype::HighAtomic, Migratetype::Cma, Migratetype::Isolate];
        let lists = lists.map(|kind| &by_type[kind.index()]);
        let blocks = lists.iter().flat_map(|list| list.iter().enumerate().skip(from));
        blocks.fold(0, |sum, (at, n)| sum.saturating_add(n.blocks.saturating_mul(1 << at)))
    };
    (pages_from(usize::from(order)) >> order, pages_from(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_work_never_yields_fewer_blocks() {
        let mut state = 26_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % 50
        };
        for round in 0..1000 {
            let zones: Vec<_> = (0..3)
                .map(|_| ZoneSupply {
                    now: random(),
                    compacted: Some(random()),
                    compacted_at_most: Some(random()),
                    reclaimed: Some(random()),
                    both: Some(random()),
                    both_at_most: Some(random()),
                    unusable: random(),
                    allowed: random(),
                    allowed_reclaimed: random(),
                    allowed_compacted: random(),
                    allowed_compacted_at_most: random(),
                    allowed_both: random(),
                    allowed_both_at_most: random(),
                    ..ZoneSupply::default()
                })
                .collect();
            let supply = Supply::of(&zones);
            let (compacted, reclaimed) = (supply.after_compaction.unwrap(), supply.after_reclaim.unwrap());
            let both = supply.after_reclaim_and_compaction.unwrap();
            assert!(supply.now <= compacted.min(reclaimed), "round {round}: {supply:?}");
            assert!(compacted.max(reclaimed) <= both, "round {round}: {supply:?}");
            let compacted_at_most = supply.after_compaction_at_most.unwrap();
            assert!(compacted <= compacted_at_most, "round {round}: {supply:?}");
            let at_most = supply.after_reclaim_and_compaction_at_most.unwrap();
            assert!(both.max(compacted_at_most) <= at_most, "round {round}: {supply:?}");
        }
        let unknown = ZoneSupply { now: 3, allowed: 9, ..ZoneSupply::default() };
        let supply = Supply::of(&[unknown]);
        assert_eq!((supply.now, supply.after_compaction), (3, None));
    }

    #[test]
    fn reserves_of_unknown_blocks_fill_as_many_as_they_can() {
        let mut free = ZoneFreeBlocks::default();
        free.total[10].blocks = 32;
        free.reserves = Some(FreeReserves { cma: 4000, high_atomic: 28 });
        assert_eq!(unusable(&free, 10), (3, 4028));
        assert_eq!(unusable(&free, 4), (251, 4028));
        free.total[10].blocks = 2;
        assert_eq!(unusable(&free, 10), (2, 4028));
    }

    #[test]
    fn the_lowmem_reserve_is_against_requests_that_higher_zones_could_serve() {
        let dma = ZoneSnapshot { watermark_low: 43, ..ZoneSnapshot::default() };
        assert_eq!(allowed(&dma, 0, 3840, 7114), 0);
        assert_eq!(allowed(&dma, 0, 3840, 0), 3797);
        assert_eq!(allowed(&dma, 9, 3840, 0), 7);
        let broken = ZoneSnapshot { watermark_low: u64::MAX, boost: 1, ..ZoneSnapshot::default() };
        assert_eq!(allowed(&broken, 0, 3840, 0), 0);
    }
}
