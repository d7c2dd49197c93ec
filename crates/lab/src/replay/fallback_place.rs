//! The time and place of fallbacks.

use std::ptr;

use freehold::{ExtFrag, Memory, Pfn, Platform};

/// The time and place of a fallback: a request answered with a block of another type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FallbackPlace {
    /// The time, in nanoseconds on the trace's clock.
    pub time_ns: u64,
    /// The zone of the block, in the order of the engine's zones.
    pub zone: usize,
    /// The pageblock of the block, counted from the first pageblock of the zone.
    pub pageblock: usize,
    /// The requested and the found block.
    pub found: ExtFrag,
}

/// The first frames of all pageblocks, by zone.
pub(super) struct PageblockStarts(Vec<Vec<Pfn>>);

impl PageblockStarts {
    pub(super) fn new<P: Platform>(memory: &Memory<'_, P>) -> Self {
        let starts = |zone: &freehold::Zone<'_, P>| zone.pageblocks().map(|used| used.start).collect();
        Self(memory.zones().iter().map(starts).collect())
    }

    /// Returns the place of a block found at a time; `None` if no zone has the block.
    pub(super) fn place<P: Platform>(
        &self,
        memory: &Memory<'_, P>,
        time_ns: u64,
        found: ExtFrag,
    ) -> Option<FallbackPlace> {
        let owner = memory.zone_of(found.pfn)?;
        let zone = memory.zones().iter().position(|zone| ptr::eq(zone, owner))?;
        let pageblock = self.0.get(zone)?.partition_point(|&start| start <= found.pfn).checked_sub(1)?;
        Some(FallbackPlace { time_ns, zone, pageblock, found })
    }
}
