//! What a verdict rests on.

use freehold::Migratetype;
use freehold_linux::pageblocks::{Charge, PageblockMap};
use freehold_linux::procfs::{HugetlbPool, SlabCache, VmallocCaller};
use freehold_linux::sensor::ZoneFreeBlocks;
use freehold_trace::ZoneSnapshot;

use super::compaction::Mobility;

/// The readings of a machine.
#[derive(Clone, Copy)]
pub struct Evidence<'a> {
    /// `/proc/zoneinfo`.
    pub zones: &'a [ZoneSnapshot],
    /// Free blocks, zone by zone.
    pub free: &'a [ZoneFreeBlocks],
    /// What the pageblocks hold; without it only what is free now can be told.
    pub map: Option<&'a PageblockMap>,
    /// The migratetypes of the map's pageblocks, zone by zone, where they are known.
    pub types: Option<&'a [Vec<Option<Migratetype>>]>,
    /// What compaction may move.
    pub mobility: Mobility,
    /// The CPU that will compact, where that is known; otherwise it may be any.
    pub compacting_cpu: Option<u32>,
    /// Names of those that hold memory.
    pub names: &'a Names,
    /// The slab caches of the pageblock that starts at a frame; none where they are not known.
    pub slab_of: Option<&'a dyn Fn(u64) -> Vec<SlabShare>>,
    /// What could not be read, a sentence each.
    pub missing: &'a [String],
}

/// Names of those that hold memory, and how much; empty where they could not be read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Names {
    /// Slab caches, largest first.
    pub slabs: Vec<SlabCache>,
    /// Callers of vmalloc, largest first.
    pub vmalloc: Vec<VmallocCaller>,
    /// Pools of hugetlb pages.
    pub hugetlb: Vec<HugetlbPool>,
    /// Cgroups that the kernel's own pages are charged to, in the pageblocks nearest to becoming free, largest
    /// first.
    pub charges: Vec<Charge>,
    /// Pages of kernel stacks.
    pub kernel_stack_pages: u64,
    /// Pages of zsmalloc.
    pub zsmalloc_pages: u64,
    /// Pages on per-CPU lists.
    pub per_cpu_pages: u64,
    /// The size of a page in KiB.
    pub page_kib: u64,
}

/// What one slab cache has of a pageblock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SlabShare {
    /// The cache.
    pub name: String,
    /// Its pages there.
    pub pages: u64,
}
