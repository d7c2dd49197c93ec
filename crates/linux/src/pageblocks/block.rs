//! The record of one pageblock.

use serde::Serialize;

/// How far the free scanner of compaction steps, in pages, when it has found nothing in one pageblock, in two and
/// so on.
///
/// Linux counterpart: `stride` in `isolate_freepages`.
pub const STRIDES: [u64; 5] = [2, 4, 8, 16, 32];

/// What a pageblock's frames are used for, in pages, and where in it the pages are that stay.
///
/// The numbers of pages add up to the pages of the pageblock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Pageblock {
    /// On a free list (`KPF_BUDDY`).
    pub free: u16,
    /// Anonymous pages and tmpfs: compaction moves them; reclaim needs swap for them.
    pub anon: u16,
    /// Clean page cache that nobody maps: compaction moves it, reclaim drops it.
    pub file_clean: u16,
    /// Page cache that is dirty, under writeback or mapped: compaction moves it, reclaim has to work for it.
    pub file_busy: u16,
    /// Unevictable pages (mlocked and the like): compaction moves them unless
    /// `vm.compact_unevictable_allowed` is 0, reclaim never drops them.
    pub unevictable: u16,
    /// What compaction cannot move, by [`Held`].
    pub held: [u16; Held::COUNT],
    /// True if one movable compound page fills the pageblock: compaction leaves those alone.
    pub whole_folio: bool,
    /// The order of the largest free block in the pageblock.
    pub free_order: u8,
    /// Free pages that the free scanner of compaction comes by with each of [`STRIDES`].
    pub free_strided: [u16; STRIDES.len()],
    /// The order of the largest compound page of page cache that is dirty or under writeback, 0 if there is
    /// none. Filesystems keep state with such pages, so that the kernel cannot split them: they move whole or
    /// not at all.
    pub dirty_order: u8,
    /// Parts of the pageblock with a page that neither compaction nor reclaim removes, a bit for each
    /// 64th; see [`super::PageblockMap::part_order`].
    pub held_parts: u64,
    /// Parts of the pageblock with any page that is not free.
    pub used_parts: u64,
}

/// Why a page stays where it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Held {
    /// Slab objects.
    Slab = 0,
    /// Page tables.
    PageTable = 1,
    /// In use with no flag that says by whom: kernel stacks, drivers' pages, vmalloc, per-CPU lists.
    Kernel = 2,
    /// hugetlb pages.
    Hugetlb = 3,
    /// Logically offline: ballooned or being unplugged (`KPF_OFFLINE`).
    Offline = 4,
    /// Reserved by the firmware or at boot, or broken (`KPF_RESERVED`, `KPF_HWPOISON`).
    Reserved = 5,
    /// No memory.
    Absent = 6,
    /// Memory that the kernel has not set up yet (`CONFIG_DEFERRED_STRUCT_PAGE_INIT`): it sets up more
    /// before it refuses a request.
    Deferred = 7,
}

impl Held {
    /// How many there are.
    pub const COUNT: usize = 8;

    /// Every reason, in the order of their numbers.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Slab,
        Self::PageTable,
        Self::Kernel,
        Self::Hugetlb,
        Self::Offline,
        Self::Reserved,
        Self::Absent,
        Self::Deferred,
    ];

    /// The name that reports and metrics use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Slab => "slab",
            Self::PageTable => "page-table",
            Self::Kernel => "kernel",
            Self::Hugetlb => "hugetlb",
            Self::Offline => "offline",
            Self::Reserved => "reserved",
            Self::Absent => "absent",
            Self::Deferred => "deferred",
        }
    }
}

impl Pageblock {
    /// Pages held for this reason.
    pub fn held_by(&self, why: Held) -> u32 {
        u32::from(self.held[why as usize])
    }

    /// Pages that compaction cannot move, unevictable ones and those of a whole folio not counted.
    pub fn stuck(&self) -> u32 {
        self.held.iter().map(|&pages| u32::from(pages)).sum()
    }

    /// Pages on the LRU and on their way there.
    pub fn movable(&self) -> u32 {
        [self.anon, self.file_clean, self.file_busy, self.unevictable].iter().map(|&n| u32::from(n)).sum()
    }
}
