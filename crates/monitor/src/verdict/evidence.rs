//! The readings that a verdict is based on.

use freehold::Migratetype;
use freehold_linux::pageblocks::{Charge, PageblockMap};
use freehold_linux::procfs::{HugetlbPool, ProcessMemory, SlabCache, VmallocCaller};
use freehold_linux::sensor::ZoneFreeBlocks;
use freehold_trace::ZoneSnapshot;

use super::compaction::Mobility;
use super::range_rules::RangeRules;

/// The readings of a machine.
#[derive(Clone, Copy)]
pub struct Evidence<'a> {
    /// `/proc/zoneinfo`.
    pub zones: &'a [ZoneSnapshot],
    /// Free blocks, zone by zone.
    pub free: &'a [ZoneFreeBlocks],
    /// What the pageblocks hold. Without it only blocks that are free now are known.
    pub map: Option<&'a PageblockMap>,
    /// The migratetypes of the map's pageblocks, zone by zone, where they are known.
    pub types: Option<&'a [Vec<Option<Migratetype>>]>,
    /// What compaction may move.
    pub mobility: Mobility,
    /// What the kernel does to empty a contiguous range.
    pub ranges: RangeRules,
    /// The CPU that will compact; `None` if it may be any.
    pub compacting_cpu: Option<u32>,
    /// True if CPUs' lists can be bounded while memory is compacted, as `freehold repair` and `freehold check --verify` do.
    pub bounds_lists: bool,
    /// Names of holders of memory.
    pub names: &'a Names,
    /// Returns the slab caches of the pageblock that starts at a frame; `None` if they are unknown.
    pub slab_of: Option<&'a dyn Fn(u64) -> Vec<SlabShare>>,
    /// What could not be read, a sentence each.
    pub missing: &'a [String],
}

impl<'a> Evidence<'a> {
    /// Returns the free blocks of a zone.
    pub(super) fn free_of(&self, zone: &ZoneSnapshot) -> Option<&'a ZoneFreeBlocks> {
        self.free.iter().find(|free| free.node == zone.node && free.name == zone.name)
    }
}

/// Holders of memory by name, with their sizes; empty where they could not be read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Names {
    /// Slab caches, largest first.
    pub slabs: Vec<SlabCache>,
    /// Callers of vmalloc, largest first.
    pub vmalloc: Vec<VmallocCaller>,
    /// Pools of hugetlb pages.
    pub hugetlb: Vec<HugetlbPool>,
    /// Cgroups charged for unmovable pages in the pageblocks that are nearest to becoming free,
    /// largest charge first.
    pub charges: Vec<Charge>,
    /// Pages of kernel stacks.
    pub kernel_stack_pages: u64,
    /// Pages of zsmalloc.
    pub zsmalloc_pages: u64,
    /// Pages of page cache that are dirty or under writeback.
    pub dirty_pages: u64,
    /// Pages of page cache that were dirtied in a second while the machine was read; 0 where that is not known.
    pub dirtied_pages: u64,
    /// Pages of tmpfs and shared memory.
    pub shmem_pages: u64,
    /// Pages of slab caches that a shrinker may give back.
    pub slab_reclaimable_pages: u64,
    /// Anonymous pages that page tables refer to.
    pub mapped_anon_pages: u64,
    /// Free pages of swap.
    pub swap_pages: u64,
    /// True if who holds memory was not looked up, as in a sample; `freehold check` does.
    pub unread: bool,
    /// What processes hold, most anonymous memory first.
    pub processes: Vec<ProcessMemory>,
    /// Those of the pages on per-CPU lists that the kernel can take back.
    pub drainable_pages: u64,
    /// Pages on per-CPU lists.
    pub per_cpu_pages: u64,
    /// The size of a page in KiB.
    pub page_kib: u64,
}

/// The part of a pageblock that one slab cache holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SlabShare {
    /// The cache.
    pub name: String,
    /// Its pages in the pageblock.
    pub pages: u64,
}
