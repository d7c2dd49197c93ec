//! The short way to a memory: ranges of frames that are all free.

use core::mem::MaybeUninit;
use core::ops::Range;

use super::config::MemoryConfig;
use super::state::{Memory, required_bytes};
#[cfg(not(loom))]
use super::static_memory::StaticMemory;
use super::sysctls::Sysctls;
use crate::table::Sections;
use crate::table::sync::Locks;
use crate::types::{Era, Order, Pfn, SetupError, ZoneType};
use crate::zone::ZoneConfig;

/// The most zones of a memory that is built of ranges: DMA, DMA32 and Normal.
const MOST_ZONES: usize = 3;

/// Sets up a memory of one node from the ranges of frames that are free at first.
///
/// Frames between ranges are holes, and sections of 128 MiB without any range cost no metadata: memory may come later
/// to the ranges that [`MemoryBuilder::hotplug`] names. All of it is zone Normal, unless
/// [`MemoryBuilder::zone_below`] says otherwise.
/// Marks, lowmem reserves and the settings of CPUs' lists are what Linux computes from the zones' sizes. For several
/// nodes, other zones or other settings there is [`MemoryConfig`].
///
/// ```
/// use core::mem::MaybeUninit;
/// use freehold::{GfpFlags, MemoryBuilder, Order, Pfn, Request};
///
/// type Locks = (parking_lot::RawMutex, parking_lot::RawMutex);
///
/// let ranges = [Pfn(0x100)..Pfn(0x2100)];
/// let builder = MemoryBuilder::new(&ranges, 2);
/// let mut metadata = vec![MaybeUninit::uninit(); builder.required_bytes::<Locks>()];
/// let memory = builder.build::<Locks>(&mut metadata)?;
/// let page = memory.alloc(Request { cpu: 0, node: 0, order: Order::ZERO, gfp: GfpFlags::KERNEL });
/// # assert!(page.is_ok());
/// # Ok::<(), freehold::SetupError>(())
/// ```
#[derive(Clone, Debug)]
pub struct MemoryBuilder<'r> {
    ranges: &'r [Range<Pfn>],
    hotplug: &'r [Range<Pfn>],
    cpus: u16,
    /// The frame behind the last one of zones DMA and DMA32.
    below: [Pfn; MOST_ZONES - 1],
    page_bytes: u64,
    max_order: Order,
    pageblock_order: Order,
    era: Era,
}

const KINDS: [ZoneType; MOST_ZONES] = [ZoneType::Dma, ZoneType::Dma32, ZoneType::Normal];

impl<'r> MemoryBuilder<'r> {
    /// Returns a builder for pages of 4 KiB, blocks up to order 10, pageblocks of order 9, and Freehold's own rules.
    pub const fn new(ranges: &'r [Range<Pfn>], cpus: u16) -> Self {
        Self {
            ranges,
            hotplug: &[],
            cpus,
            below: [Pfn(0); MOST_ZONES - 1],
            page_bytes: 4096,
            max_order: Order::MAX_PAGE_ORDER,
            pageblock_order: Order::HUGE_PAGE,
            era: Era::Freehold,
        }
    }

    /// Has the frames below `end` be those of a zone of their own, DMA or DMA32. Any other zone is left out.
    #[must_use]
    pub const fn zone_below(mut self, kind: ZoneType, end: Pfn) -> Self {
        match kind {
            ZoneType::Dma => self.below[0] = end,
            ZoneType::Dma32 => self.below[1] = end,
            _ => {}
        }
        self
    }

    /// Sets the ranges to which memory may come later, by [`Memory::online_range`]. Zones span them, and their
    /// metadata is set aside.
    #[must_use]
    pub const fn hotplug(mut self, ranges: &'r [Range<Pfn>]) -> Self {
        self.hotplug = ranges;
        self
    }

    /// Sets the bytes of a page, from which the settings of CPUs' lists follow.
    #[must_use]
    pub const fn page_bytes(mut self, bytes: u64) -> Self {
        self.page_bytes = bytes;
        self
    }

    /// Sets the largest order, and the order of a pageblock up to it.
    #[must_use]
    pub const fn orders(mut self, largest: Order, pageblock: Order) -> Self {
        (self.max_order, self.pageblock_order) = (largest, pageblock);
        self
    }

    /// Sets the generation of the allocator.
    #[must_use]
    pub const fn era(mut self, era: Era) -> Self {
        self.era = era;
        self
    }

    /// Returns the bytes of metadata that [`MemoryBuilder::build`] needs.
    pub fn required_bytes<L: Locks>(&self) -> usize {
        let (zones, used) = self.zones();
        required_bytes::<L>(&self.config(&zones[..used]))
    }

    /// Returns a memory with all frames of the ranges free.
    ///
    /// # Errors
    /// See [`SetupError`]: [`SetupError::EmptyZone`] without any frame, [`SetupError::OverlappingZones`] if two
    /// ranges share one.
    pub fn build<'m, L: Locks<Tracepoints = (), Rule = ()>>(
        &self,
        metadata: &'m mut [MaybeUninit<u8>],
    ) -> Result<Memory<'m, L>, SetupError> {
        let (zones, used) = self.zones();
        let memory = Memory::new(&self.config(&zones[..used]), metadata)?;
        self.add_all(&memory)?;
        Ok(memory)
    }

    /// Sets up the memory of a `static`, and returns it. Another caller may find it before all its frames are
    /// free.
    ///
    /// # Errors
    /// As [`MemoryBuilder::build`], and [`SetupError::AlreadySetUp`]. After [`SetupError::OverlappingZones`] the
    /// memory is set up with the frames before that one.
    #[cfg(not(loom))]
    pub fn build_static<'s, L: Locks<Tracepoints = (), Rule = ()>>(
        &self,
        memory: &'s StaticMemory<L>,
        metadata: &'static mut [MaybeUninit<u8>],
    ) -> Result<&'s Memory<'static, L>, SetupError> {
        let (zones, used) = self.zones();
        let memory = memory.set_up(&self.config(&zones[..used]), metadata, &())?;
        self.add_all(memory)?;
        Ok(memory)
    }

    fn config<'c>(&self, zones: &'c [ZoneConfig]) -> MemoryConfig<'c>
    where
        'r: 'c,
    {
        MemoryConfig {
            sections: Sections { present: self.ranges, hotplug: self.hotplug, ..Sections::ALL },
            max_order: self.max_order,
            pageblock_order: self.pageblock_order,
            switches: self.era.switches(),
            ..MemoryConfig::linux(zones, self.cpus)
        }
    }

    /// Returns the zones, and the number of those that have frames, which come first.
    fn zones(&self) -> ([ZoneConfig; MOST_ZONES], usize) {
        let mut zones = [ZoneConfig::sized(0, ZoneType::Normal, Pfn(0), 0); MOST_ZONES];
        let mut used = 0;
        let mut start = Pfn(0);
        for (number, kind) in KINDS.into_iter().enumerate() {
            let end = self.below.get(number).map_or(Pfn(u64::MAX), |&end| end.max(start));
            let of_zone =
                |range: &Range<Pfn>| Some(part(range, &(start..end))).filter(|part| !part.is_empty());
            let parts = || self.ranges.iter().filter_map(of_zone);
            let all = || parts().chain(self.hotplug.iter().filter_map(of_zone));
            if let (Some(first), Some(last)) =
                (all().map(|part| part.start).min(), all().map(|part| part.end).max())
            {
                let mut zone = ZoneConfig::sized(0, kind, first, last.0 - first.0);
                let managed = parts().fold(0_u64, |sum, part| sum.saturating_add(part.end.0 - part.start.0));
                zone.managed = managed.min(zone.spanned);
                zones[used] = zone;
                used += 1;
            }
            start = end;
        }
        let mut sysctls = Sysctls::linux(self.cpus);
        sysctls.page_bytes = self.page_bytes;
        sysctls.apply(&mut zones[..used]);
        (zones, used)
    }

    fn add_all<L: Locks>(&self, memory: &Memory<'_, L>) -> Result<(), SetupError> {
        for zone in memory.zones() {
            for range in self.ranges {
                let part = part(range, &(zone.start()..zone.end()));
                if !part.is_empty() {
                    zone.add_free(part.start, part.end.0 - part.start.0)?;
                }
            }
        }
        Ok(())
    }
}

/// Returns the frames that two ranges share.
fn part(one: &Range<Pfn>, other: &Range<Pfn>) -> Range<Pfn> {
    one.start.max(other.start)..one.end.min(other.end)
}
