//! The configuration of a memory for callers in C.
#![expect(unsafe_code, reason = "zones behind a pointer of the caller, and a function with a name for C")]

use core::ops::Range;
use core::{ptr, slice};

use freehold::{Era, MemoryConfig, Order, Pfn, Sections, Sysctls, ZoneConfig, ZoneType};

use crate::status::FreeholdStatus;

/// The most zones of a memory.
pub const FREEHOLD_MOST_ZONES: usize = 16;

/// The most ranges in a list of ranges.
pub const FREEHOLD_MOST_RANGES: usize = 64;

/// Addresses below 16 MiB.
pub const FREEHOLD_ZONE_DMA: u8 = 0;
/// Addresses below 4 GiB.
pub const FREEHOLD_ZONE_DMA32: u8 = 1;
/// Addresses that every request may use.
pub const FREEHOLD_ZONE_NORMAL: u8 = 2;
/// Addresses that the kernel does not map.
pub const FREEHOLD_ZONE_HIGHMEM: u8 = 3;
/// Addresses for movable pages only.
pub const FREEHOLD_ZONE_MOVABLE: u8 = 4;

/// The allocator of Linux 6.1.
pub const FREEHOLD_ERA_LINUX_6_1: u8 = 0;
/// The allocator of Linux 6.12.
pub const FREEHOLD_ERA_LINUX_6_12: u8 = 1;
/// The allocator of Linux 7.3.
pub const FREEHOLD_ERA_LINUX_7_3: u8 = 2;
/// The allocator of Linux 7.3 with counts per migratetype.
pub const FREEHOLD_ERA_LINUX_7_3_COUNTS: u8 = 3;
/// The allocator of Linux 7.3 with all changes of Freehold.
pub const FREEHOLD_ERA_FREEHOLD: u8 = 4;

const _: () = {
    assert!(FREEHOLD_ZONE_DMA == ZoneType::Dma as u8 && FREEHOLD_ZONE_DMA32 == ZoneType::Dma32 as u8);
    assert!(
        FREEHOLD_ZONE_NORMAL == ZoneType::Normal as u8 && FREEHOLD_ZONE_HIGHMEM == ZoneType::HighMem as u8
    );
    assert!(FREEHOLD_ZONE_MOVABLE == ZoneType::Movable as u8);
};

/// The era of each number.
const ERAS: [(u8, Era); 5] = [
    (FREEHOLD_ERA_LINUX_6_1, Era::Linux6_1),
    (FREEHOLD_ERA_LINUX_6_12, Era::Linux6_12),
    (FREEHOLD_ERA_LINUX_7_3, Era::Linux7_3),
    (FREEHOLD_ERA_LINUX_7_3_COUNTS, Era::Linux7_3Counts),
    (FREEHOLD_ERA_FREEHOLD, Era::Freehold),
];

/// One zone. The library computes its watermarks and the settings of CPUs' lists from its size, as Linux does.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FreeholdZone {
    /// The first frame, with any alignment.
    pub start: u64,
    /// The number of pages from the first to the last, including holes.
    pub spanned: u64,
    /// The number of pages without holes; 0 for all pages.
    pub managed: u64,
    /// The number of the NUMA node.
    pub node: u16,
    /// The type of the zone: one of `FREEHOLD_ZONE_DMA` to `FREEHOLD_ZONE_MOVABLE`.
    pub kind: u8,
}

/// A range of frames.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FreeholdRange {
    /// The first frame.
    pub start: u64,
    /// The number of frames.
    pub pages: u64,
}

/// The configuration of a memory. `freehold_config_linux` fills it in.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FreeholdConfig {
    /// The zones, in any order. They are not needed after `freehold_new`.
    pub zones: *const FreeholdZone,
    /// The number of zones, at most `FREEHOLD_MOST_ZONES`.
    pub zone_count: usize,
    /// The ranges with memory, in any order. They are not needed after `freehold_new`. A section without any frame of
    /// `present` or `hotplug` costs no metadata, and can get no memory later. Null if all sections have metadata.
    pub present: *const FreeholdRange,
    /// The number of ranges in `present`, at most `FREEHOLD_MOST_RANGES`.
    pub present_count: usize,
    /// The ranges to which `freehold_online` may add memory later. Null for none.
    pub hotplug: *const FreeholdRange,
    /// The number of ranges in `hotplug`, at most `FREEHOLD_MOST_RANGES`.
    pub hotplug_count: usize,
    /// The page size. Units: bytes.
    pub page_bytes: u64,
    /// The number of CPUs, which are numbered from 0.
    pub cpus: u16,
    /// The largest order, 0 to 18.
    pub max_order: u8,
    /// The order of a pageblock, at most the largest order.
    pub pageblock_order: u8,
    /// The generation of the allocator: one of `FREEHOLD_ERA_LINUX_6_1` to `FREEHOLD_ERA_FREEHOLD`.
    pub era: u8,
    /// The order of a section. An order below the largest order counts as the latter.
    pub section_order: u8,
    /// True if a pageblock is a huge page, and has lists of CPUs.
    pub huge_pages: bool,
}

/// Returns the configuration of zones with pages of 4 KiB, blocks up to order 10, pageblocks of order 9 and the era
/// `FREEHOLD_ERA_FREEHOLD`. The caller may change every field afterwards.
#[unsafe(no_mangle)]
pub extern "C" fn freehold_config_linux(
    zones: *const FreeholdZone,
    zone_count: usize,
    cpus: u16,
) -> FreeholdConfig {
    FreeholdConfig {
        zones,
        zone_count,
        present: ptr::null(),
        present_count: 0,
        hotplug: ptr::null(),
        hotplug_count: 0,
        page_bytes: 4096,
        cpus,
        max_order: Order::MAX_PAGE_ORDER.get(),
        pageblock_order: Order::HUGE_PAGE.get(),
        era: FREEHOLD_ERA_FREEHOLD,
        section_order: Order::SECTION.get(),
        huge_pages: true,
    }
}

/// Calls `act` with the configuration that a caller in C describes.
///
/// # Safety
/// `config` is null, or points to a configuration. Each of its three lists is null, or has as many entries as its
/// count.
pub(crate) unsafe fn with_config<T>(
    config: *const FreeholdConfig,
    act: impl FnOnce(&MemoryConfig<'_>) -> Result<T, FreeholdStatus>,
) -> Result<T, FreeholdStatus> {
    // SAFETY: by the caller.
    let given = unsafe { config.as_ref() }.ok_or(FreeholdStatus::NullPointer)?;
    if given.zone_count > FREEHOLD_MOST_ZONES {
        return Err(FreeholdStatus::NoSuchNumber);
    }
    if given.zones.is_null() {
        return Err(FreeholdStatus::NullPointer);
    }
    // SAFETY: by the caller.
    let described = unsafe { slice::from_raw_parts(given.zones, given.zone_count) };
    let mut zones = [ZoneConfig::sized(0, ZoneType::Normal, Pfn(0), 0); FREEHOLD_MOST_ZONES];
    for (zone, from) in zones.iter_mut().zip(described) {
        *zone = zone_config(from)?;
    }
    let zones = &mut zones[..given.zone_count];
    let order = |value| Order::new(value).ok_or(FreeholdStatus::BadPageblockOrder);
    let era = ERAS.iter().find(|(number, _)| *number == given.era).ok_or(FreeholdStatus::NoSuchNumber)?.1;
    let mut sysctls = Sysctls::linux(given.cpus);
    sysctls.page_bytes = given.page_bytes;
    sysctls.apply(zones);
    let mut config = MemoryConfig::linux(zones, given.cpus);
    config.max_order = order(given.max_order)?;
    config.pageblock_order = order(given.pageblock_order)?;
    config.huge_pages = given.huge_pages;
    config.switches = era.switches();
    let (mut present, mut hotplug) = ([NO_FRAMES; FREEHOLD_MOST_RANGES], [NO_FRAMES; FREEHOLD_MOST_RANGES]);
    // SAFETY: by the caller.
    let (present, hotplug) = unsafe {
        let present = ranges(given.present, given.present_count, &mut present)?;
        (present, ranges(given.hotplug, given.hotplug_count, &mut hotplug)?)
    };
    config.sections = Sections { present, hotplug, order: order(given.section_order)? };
    act(&config)
}

const NO_FRAMES: Range<Pfn> = Pfn(0)..Pfn(0);

/// Fills `places` with the ranges of a list, and returns them.
///
/// # Safety
/// `list` is null or points to `count` ranges.
unsafe fn ranges(
    list: *const FreeholdRange,
    count: usize,
    places: &mut [Range<Pfn>; FREEHOLD_MOST_RANGES],
) -> Result<&[Range<Pfn>], FreeholdStatus> {
    let used = places.get_mut(..count).ok_or(FreeholdStatus::NoSuchNumber)?;
    if used.is_empty() {
        return Ok(used);
    }
    if list.is_null() {
        return Err(FreeholdStatus::NullPointer);
    }
    // SAFETY: by the caller.
    let given = unsafe { slice::from_raw_parts(list, count) };
    for (place, range) in used.iter_mut().zip(given) {
        *place = Pfn(range.start)..Pfn(range.start).add(range.pages);
    }
    Ok(used)
}

fn zone_config(from: &FreeholdZone) -> Result<ZoneConfig, FreeholdStatus> {
    let kinds = [ZoneType::Dma, ZoneType::Dma32, ZoneType::Normal, ZoneType::HighMem, ZoneType::Movable];
    let kind = kinds.get(usize::from(from.kind)).ok_or(FreeholdStatus::NoSuchNumber)?;
    let mut zone = ZoneConfig::sized(from.node, *kind, Pfn(from.start), from.spanned);
    if from.managed > 0 {
        zone.managed = from.managed;
    }
    Ok(zone)
}
