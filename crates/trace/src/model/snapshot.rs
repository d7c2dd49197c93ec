//! The state of a machine's memory at one moment.

use freehold::{Order, Pfn};
use serde::{Deserialize, Serialize};

use super::by_order::ByOrder;
use super::exact::ExactPart;
use super::kernel_types::{ByType, KernelTypes};

/// The settings below `/proc/sys/vm` that a recorder stores.
pub const SYSCTLS: [&str; 11] = [
    "compact_unevictable_allowed",
    "compaction_proactiveness",
    "defrag_mode",
    "extfrag_threshold",
    "lowmem_reserve_ratio",
    "min_free_kbytes",
    "percpu_pagelist_high_fraction",
    "swappiness",
    "watermark_boost_factor",
    "watermark_scale_factor",
    "zone_reclaim_mode",
];

/// The state of a machine's memory at one moment.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Snapshot {
    /// The time when reading ended, in nanoseconds on the trace's clock.
    pub time_ns: u64,
    /// Every populated zone, nodes ascending, zones from low to high addresses.
    pub zones: Vec<ZoneSnapshot>,
    /// The contents of `/proc/pagetypeinfo`.
    pub pagetypeinfo: PageTypeInfo,
    /// Selected `/proc/vmstat` counters, by name.
    pub vmstat: std::collections::BTreeMap<String, u64>,
    /// The `/proc/sys/vm` settings that affect the allocator, by name.
    pub sysctl: std::collections::BTreeMap<String, String>,
    /// The use of each frame; empty if it was not recorded.
    #[serde(skip)]
    pub occupancy: Vec<Run>,
    /// The exact state of free memory, or the reason why it was not taken.
    #[serde(default, skip_serializing_if = "ExactPart::is_untried")]
    pub exact: ExactPart,
}

impl Snapshot {
    /// Returns the machine's largest order, or `None` if the snapshot has no `/proc/pagetypeinfo`.
    pub fn largest_order(&self) -> Option<Order> {
        self.pagetypeinfo.largest_order()
    }
}

/// One zone as `/proc/zoneinfo` shows it. All sizes are in pages.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ZoneSnapshot {
    /// NUMA node.
    pub node: u32,
    /// `DMA`, `DMA32`, `Normal`, `HighMem`, `Movable` or `Device`.
    pub name: String,
    /// First frame of the zone.
    pub start_pfn: u64,
    /// Pages from the first to the last frame, including holes.
    pub spanned: u64,
    /// Pages that exist.
    pub present: u64,
    /// Pages that the allocator manages.
    pub managed: u64,
    /// `nr_free_pages`.
    pub free: u64,
    /// Pages in CMA areas.
    pub cma: u64,
    /// The min watermark, without the boost.
    pub watermark_min: u64,
    /// The low watermark, without the boost.
    pub watermark_low: u64,
    /// The high watermark, without the boost.
    pub watermark_high: u64,
    /// The promo watermark, or 0 on kernels without it.
    pub watermark_promo: u64,
    /// The current watermark boost.
    pub boost: u64,
    /// The lowmem reserve against requests for each higher zone ("protection").
    pub protection: Vec<u64>,
    /// The per-CPU lists.
    pub pagesets: Vec<Pageset>,
}

/// The settings of one CPU's lists in `/proc/zoneinfo`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Pageset {
    /// The CPU.
    pub cpu: u32,
    /// The number of pages on the lists.
    pub count: u64,
    /// The number of pages above which the lists are drained.
    pub high: u64,
    /// The number of pages that are moved at once.
    pub batch: u64,
    /// Lower bound of the automatic tuning of `high`. Linux 6.18 prints it. For kernels that do not, such as 6.12, it
    /// is equal to `high`.
    pub high_min: u64,
    /// Upper bound of the automatic tuning of `high`. Linux 6.18 prints it. For kernels that do not, such as 6.12, it
    /// is equal to `high`.
    pub high_max: u64,
}

/// The contents of `/proc/pagetypeinfo`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PageTypeInfo {
    /// The order of a pageblock.
    pub pageblock_order: u8,
    /// One entry for each populated zone, in the file's order.
    pub zones: Vec<PageTypeZone>,
    /// The kernel's migratetypes in its order (a kernel without CMA prints no `CMA` row).
    pub types: KernelTypes,
}

impl PageTypeInfo {
    /// Returns the largest order of the rows, or `None` if there are no rows.
    pub fn largest_order(&self) -> Option<Order> {
        self.zones.iter().flat_map(|zone| &zone.free).map(ByOrder::largest).max()
    }
}

/// One zone's part of `/proc/pagetypeinfo`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PageTypeZone {
    /// NUMA node.
    pub node: u32,
    /// Name of the zone.
    pub name: String,
    /// Free blocks by migratetype and order.
    pub free: ByType<ByOrder<FreeCount>>,
    /// Pageblocks by migratetype.
    pub blocks: ByType<u64>,
}

/// A number of free blocks, as the kernel prints it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct FreeCount {
    /// The number; a lower bound if `capped`.
    pub blocks: u64,
    /// True if the kernel stopped counting and printed `>` before the number.
    pub capped: bool,
}

/// The use of a frame, from `/proc/kpageflags`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[repr(u8)]
pub enum FrameUse {
    /// No memory, or memory that the allocator does not manage.
    Absent = 0,
    /// On a free list (`KPF_BUDDY`).
    Free = 1,
    /// Anonymous memory, page cache and other pages on the LRU, which can be migrated.
    Movable = 2,
    /// Slab objects.
    Slab = 3,
    /// Page tables.
    PageTable = 4,
    /// hugetlb pages.
    Hugetlb = 5,
    /// Unevictable LRU pages (mlocked and the like).
    Unevictable = 6,
    /// Logically offline: ballooned or being unplugged (`KPF_OFFLINE`).
    Offline = 7,
    /// In use, without a flag that shows the use. Includes pages on per-CPU lists.
    Other = 8,
}

impl FrameUse {
    /// Every use, in the order of their codes.
    pub const ALL: [Self; 9] = [
        Self::Absent,
        Self::Free,
        Self::Movable,
        Self::Slab,
        Self::PageTable,
        Self::Hugetlb,
        Self::Unevictable,
        Self::Offline,
        Self::Other,
    ];

    /// Returns the use with this code.
    pub fn new(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }
}

/// Neighbouring frames with the same use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run {
    /// First frame.
    pub start: Pfn,
    /// The number of frames.
    pub pages: u64,
    /// The use of the frames.
    pub used_for: FrameUse,
}
