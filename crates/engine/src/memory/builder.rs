//! Sets up a memory from ranges of free frames.

use core::mem::MaybeUninit;
use core::ops::Range;

use super::config::MemoryConfig;
use super::state::{Memory, required_bytes};
#[cfg(not(loom))]
use super::static_memory::StaticMemory;
use super::sysctls::Sysctls;
use crate::table::Sections;
use crate::types::{Era, Order, Pfn, Platform, SetupError, ZoneType};
use crate::zone::ZoneConfig;

/// The most zones that a builder sets up: DMA, DMA32 and Normal.
const MOST_ZONES: usize = 3;

/// Sets up a memory of one node from ranges of frames that are free at first.
///
/// Frames between the ranges are holes. A section of 128 MiB without any range costs no metadata, unless
/// [`MemoryBuilder::hotplug`] names it as a place where memory may come later. All frames are in zone Normal, unless
/// [`MemoryBuilder::zone_below`] adds zones. Watermarks, lowmem reserves and the settings of per-CPU lists are computed
/// from the zones' sizes, as Linux does. For several nodes, other zones or other settings use [`MemoryConfig`].
///
/// ```
/// use core::mem::MaybeUninit;
/// use freehold::{GfpFlags, MemoryBuilder, NoReclaim, Order, Pfn, Request};
///
/// struct Host;
///
/// impl freehold::Platform for Host {
///     type ZoneLock = parking_lot::RawMutex;
///     type PerCpuLock = parking_lot::RawMutex;
///     type Tracepoints = ();
///     type Rule = ();
/// }
///
/// let ranges = [Pfn(0x100)..Pfn(0x2100)];
/// let builder = MemoryBuilder::new(&ranges, 2);
/// let mut metadata = vec![MaybeUninit::uninit(); builder.required_bytes::<Host>()];
/// let memory = builder.build::<Host>(&mut metadata)?;
/// let page = memory.alloc(Request { cpu: 0, node: 0, order: Order::ZERO, gfp: GfpFlags::KERNEL }, NoReclaim);
/// # assert!(page.is_ok());
/// # Ok::<(), freehold::SetupError>(())
/// ```
#[derive(Clone, Debug)]
pub struct MemoryBuilder<'r> {
    ranges: &'r [Range<Pfn>],
    hotplug: &'r [Range<Pfn>],
    cpus: u16,
    /// The end frames of zones DMA and DMA32.
    below: [Pfn; MOST_ZONES - 1],
    page_bytes: u64,
    max_order: Order,
    pageblock_order: Order,
    era: Era,
}

const KINDS: [ZoneType; MOST_ZONES] = [ZoneType::Dma, ZoneType::Dma32, ZoneType::Normal];

impl<'r> MemoryBuilder<'r> {
    /// Returns a builder with pages of 4 KiB, blocks up to order 10, pageblocks of order 9, and the era
    /// [`Era::Freehold`].
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

    /// Puts the frames below `end` into a separate zone, DMA or DMA32. Other values of `kind` have no effect.
    #[must_use]
    pub const fn zone_below(mut self, kind: ZoneType, end: Pfn) -> Self {
        match kind {
            ZoneType::Dma => self.below[0] = end,
            ZoneType::Dma32 => self.below[1] = end,
            _ => {}
        }
        self
    }

    /// Sets the ranges to which [`Memory::online_range`] may add memory later. The zones span these ranges, and their
    /// metadata is allocated now.
    #[must_use]
    pub const fn hotplug(mut self, ranges: &'r [Range<Pfn>]) -> Self {
        self.hotplug = ranges;
        self
    }

    /// Sets the page size, which determines the settings of the per-CPU lists. Units: bytes.
    #[must_use]
    pub const fn page_bytes(mut self, bytes: u64) -> Self {
        self.page_bytes = bytes;
        self
    }

    /// Sets the largest order and the order of a pageblock, which must not exceed it.
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
    pub fn required_bytes<P: Platform>(&self) -> usize {
        let (zones, used) = self.zones();
        required_bytes::<P>(&self.config(&zones[..used]))
    }

    /// Returns a memory in which all frames of the ranges are free.
    ///
    /// # Errors
    /// See [`SetupError`]: [`SetupError::EmptyZone`] without any frame, [`SetupError::OverlappingZones`] if two
    /// ranges share one.
    pub fn build<'m, P: Platform<Tracepoints = (), Rule = ()>>(
        &self,
        metadata: &'m mut [MaybeUninit<u8>],
    ) -> Result<Memory<'m, P>, SetupError> {
        let (zones, used) = self.zones();
        let memory = Memory::new(&self.config(&zones[..used]), metadata)?;
        self.add_all(&memory)?;
        Ok(memory)
    }

    /// Sets up the memory of a `static`, and returns it. Other callers may see the memory before all its frames are
    /// free.
    ///
    /// # Errors
    /// As [`MemoryBuilder::build`], and [`SetupError::AlreadySetUp`]. After [`SetupError::OverlappingZones`] the
    /// memory is set up with the frames before the shared one.
    #[cfg(not(loom))]
    pub fn build_static<'s, P: Platform<Tracepoints = (), Rule = ()>>(
        &self,
        memory: &'s StaticMemory<P>,
        metadata: &'static mut [MaybeUninit<u8>],
    ) -> Result<&'s Memory<'static, P>, SetupError> {
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

    /// Returns the zones and the number of zones with frames. These come first.
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

    fn add_all<P: Platform>(&self, memory: &Memory<'_, P>) -> Result<(), SetupError> {
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
