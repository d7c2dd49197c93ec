//! Statistics of the allocator, as plain numbers.

use super::units::MAX_ORDERS;

/// Statistics of the work under the lock of one zone. All numbers are exact.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ZoneStats {
    /// Holds of the zone lock.
    pub lock_holds: u64,
    /// The largest number of frames read and blocks moved in one hold.
    ///
    /// Units: frames read or blocks moved.
    pub longest_hold_touched: u64,
    /// Bulk refills of per-CPU lists.
    pub refills: u64,
    /// Blocks that refills took.
    pub refilled_blocks: u64,
    /// Searches of one order for a block of another type. Linux counterpart: calls of `find_suitable_fallback`.
    pub fallback_searches: u64,
    /// Attempts to claim a whole pageblock. Linux counterpart: calls of
    /// `try_to_claim_block`, or before 6.10 of `steal_suitable_fallback`.
    pub claim_attempts: u64,
    /// Pageblocks (or larger blocks) that changed their type for a request.
    pub claims: u64,
    /// Pageblocks whose type was changed by tidying.
    pub retyped: u64,
    /// Requests that got a block of another type, whose pageblock kept its type.
    pub steals: u64,
    /// Movable requests that got a CMA block.
    pub cma_fallbacks: u64,
    /// Drains of per-CPU lists. Each is one lock hold.
    pub drains: u64,
    /// Pages that drains freed.
    pub drained_pages: u64,
    /// The largest number of pages that one drain freed.
    pub largest_drain: u64,
    /// Blocks that entered a free list of another type than their pageblock's. With freelist hygiene it is 0.
    pub hygiene_violations: u64,
    /// Blocks that left a free list of another type than their pageblock's. With freelist hygiene it is 0.
    pub foreign_leaves: u64,
    /// Times that the watermark boost was raised.
    pub boosts: u64,
    /// Pageblocks reserved for atomic high-order requests.
    pub highatomic_reserved: u64,
    /// Pageblocks that left the reserve for atomic high-order requests.
    pub highatomic_unreserved: u64,
    /// Blocks allocated straight from the free lists.
    pub direct_allocs: u64,
    /// Blocks freed straight to the free lists.
    pub direct_frees: u64,
    /// List nodes that readers visited.
    pub nodes_walked: u64,
}

/// Statistics of one CPU's lists of one zone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct PerCpuStats {
    /// Refills under the zone lock.
    pub refills: u64,
    /// The largest `high` that automatic tuning reached.
    ///
    /// Units: pages.
    pub highest_high: u32,
}

/// Statistics of all requests to a memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct RequestStats {
    /// Successful requests, by order.
    pub allocs: [u64; MAX_ORDERS],
    /// Failed requests, by order.
    pub failures: [u64; MAX_ORDERS],
    /// Requests that got a block in a pageblock of another type.
    pub type_mismatches: u64,
    /// Requests that no zone admitted above its low watermark.
    pub slow_paths: u64,
    /// Wakes of kswapd because of a boosted watermark.
    pub kswapd_wakes: u64,
}

impl ZoneStats {
    /// Returns the sums of the numbers of two zones. Of maxima, returns the larger.
    #[must_use]
    pub fn merged(self, other: &Self) -> Self {
        Self {
            lock_holds: self.lock_holds + other.lock_holds,
            longest_hold_touched: self.longest_hold_touched.max(other.longest_hold_touched),
            refills: self.refills + other.refills,
            refilled_blocks: self.refilled_blocks + other.refilled_blocks,
            fallback_searches: self.fallback_searches + other.fallback_searches,
            claim_attempts: self.claim_attempts + other.claim_attempts,
            claims: self.claims + other.claims,
            retyped: self.retyped + other.retyped,
            steals: self.steals + other.steals,
            cma_fallbacks: self.cma_fallbacks + other.cma_fallbacks,
            drains: self.drains + other.drains,
            drained_pages: self.drained_pages + other.drained_pages,
            largest_drain: self.largest_drain.max(other.largest_drain),
            hygiene_violations: self.hygiene_violations + other.hygiene_violations,
            foreign_leaves: self.foreign_leaves + other.foreign_leaves,
            boosts: self.boosts + other.boosts,
            highatomic_reserved: self.highatomic_reserved + other.highatomic_reserved,
            highatomic_unreserved: self.highatomic_unreserved + other.highatomic_unreserved,
            direct_allocs: self.direct_allocs + other.direct_allocs,
            direct_frees: self.direct_frees + other.direct_frees,
            nodes_walked: self.nodes_walked + other.nodes_walked,
        }
    }
}
