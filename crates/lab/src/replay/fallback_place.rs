//! Where and when a request was answered from another type's block.

use std::ptr;

use freehold::{ExtFrag, Memory, Pfn, Platform};

/// A request that was answered from another type's block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FallbackPlace {
    /// When, in nanoseconds on the trace's clock.
    pub time_ns: u64,
    /// The zone of the block, in the order of the engine's zones.
    pub zone: usize,
    /// The pageblock of the block, counted from the zone's first one.
    pub pageblock: usize,
    /// What was asked for and what was found.
    pub found: ExtFrag,
}

/// The first frames of all pageblocks, by zone.
pub(super) struct PageblockStarts(Vec<Vec<Pfn>>);

impl PageblockStarts {
    pub(super) fn new<L: Platform>(memory: &Memory<'_, L>) -> Self {
        let starts = |zone: &freehold::Zone<'_, L>| zone.pageblocks().map(|used| used.start).collect();
        Self(memory.zones().iter().map(starts).collect())
    }

    /// Returns the place of what was found at a time; `None` if no zone has the block.
    pub(super) fn place<L: Platform>(
        &self,
        memory: &Memory<'_, L>,
        time_ns: u64,
        found: ExtFrag,
    ) -> Option<FallbackPlace> {
        let owner = memory.zone_of(found.pfn)?;
        let zone = memory.zones().iter().position(|zone| ptr::eq(zone, owner))?;
        let pageblock = self.0.get(zone)?.partition_point(|&start| start <= found.pfn).checked_sub(1)?;
        Some(FallbackPlace { time_ns, zone, pageblock, found })
    }
}
