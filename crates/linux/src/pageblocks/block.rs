//! The record of one pageblock.

use serde::Serialize;

/// The steps of compaction's free scanner in pages, after it found nothing in one pageblock, in two and
/// so on.
///
/// Linux counterpart: `stride` in `isolate_freepages`.
pub const STRIDES: [u64; 5] = [2, 4, 8, 16, 32];

/// The number of orders of compound pages that per-CPU lists take, but for huge pages: 1, 2 and 3.
///
/// Linux counterpart: `pcp_allowed_order`.
pub const SMALL_FOLIOS: usize = 3;

/// The contents of a pageblock in pages, and the places of its unmovable pages.
///
/// All numbers of pages add up to the pages of the pageblock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Pageblock {
    /// On a free list (`KPF_BUDDY`).
    pub free: u16,
    /// Anonymous and tmpfs pages: compaction moves them; reclaim needs swap for them.
    pub anon: u16,
    /// Clean page cache that is not mapped: compaction moves it, reclaim drops it.
    pub file_clean: u16,
    /// Page cache that is dirty, under writeback or mapped: compaction moves it; reclaim must first
    /// clean or unmap it.
    pub file_busy: u16,
    /// Unevictable pages (mlocked and the like): compaction moves them unless
    /// `vm.compact_unevictable_allowed` is 0, reclaim never drops them.
    pub unevictable: u16,
    /// Pages that compaction cannot move, by [`UnmovableKind`].
    pub unmovable: [u16; UnmovableKind::COUNT],
    /// Those of the pages of [`UnmovableKind::Kernel`] that are known to be free on per-CPU lists.
    pub listed: u16,
    /// True if one movable compound page fills the pageblock: compaction does not move it.
    pub whole_folio: bool,
    /// Free pages that compaction's free scanner finds with each of [`STRIDES`].
    pub free_strided: [u16; STRIDES.len()],
    /// The order of the largest compound page of page cache that is dirty or under writeback; 0 if
    /// there is none. The kernel cannot split such pages, as filesystems attach state to them: they
    /// move whole or not at all.
    pub dirty_order: u8,
    /// Movable pages in compound pages of order 1, 2 and 3, which per-CPU lists take too.
    pub in_small_folios: [u16; SMALL_FOLIOS],
    /// The 64ths of the pageblock with a page that neither compaction nor reclaim removes, a bit for
    /// each; see [`super::PageblockMap::part_order`].
    pub pinned_parts: u64,
    /// The 64ths of the pageblock with a page that is not free.
    pub used_parts: u64,
}

/// Why compaction cannot move a page.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum UnmovableKind {
    /// Slab objects.
    Slab = 0,
    /// Page tables.
    PageTable = 1,
    /// In use without a flag that names the user: kernel stacks, drivers' pages, vmalloc, per-CPU
    /// lists.
    Kernel = 2,
    /// hugetlb pages.
    Hugetlb = 3,
    /// Logically offline: ballooned or being unplugged (`KPF_OFFLINE`).
    Offline = 4,
    /// Reserved by the firmware or at boot, or broken (`KPF_RESERVED`, `KPF_HWPOISON`).
    Reserved = 5,
    /// No memory.
    Absent = 6,
    /// Memory that the kernel has not set up yet (`CONFIG_DEFERRED_STRUCT_PAGE_INIT`). It sets up
    /// more before it fails a request.
    Deferred = 7,
    /// In use and movable but for a reference beside those of page tables and caches: pinned.
    Pinned = 8,
}

impl UnmovableKind {
    /// The number of reasons.
    pub const COUNT: usize = 9;

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
        Self::Pinned,
    ];

    /// Returns the name in reports and metrics.
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
            Self::Pinned => "pinned",
        }
    }
}

impl Pageblock {
    /// Returns the pageblock with so many more free pages, which lie apart: with a stride the free scanner finds that
    /// part of them. The caller takes them off their former owner; the parts in use and unmovable stay as they were.
    #[must_use]
    pub fn with_free(&self, pages: u16) -> Self {
        let mut later = Self { free: self.free + pages, ..*self };
        for (found, stride) in later.free_strided.iter_mut().zip(STRIDES) {
            *found += pages / stride as u16;
        }
        later
    }

    /// Returns the unmovable pages of one kind.
    pub fn pages_of(&self, why: UnmovableKind) -> u32 {
        u32::from(self.unmovable[why as usize])
    }

    /// Returns the pages that compaction cannot move, without unevictable pages and whole folios.
    pub fn stuck(&self) -> u32 {
        self.unmovable.iter().map(|&pages| u32::from(pages)).sum()
    }

    /// Returns all pages, memory or not.
    pub fn pages(&self) -> u32 {
        u32::from(self.free) + self.stuck() + self.movable()
    }

    /// Returns the pages on the LRU or in a batch for it.
    pub fn movable(&self) -> u32 {
        [self.anon, self.file_clean, self.file_busy, self.unevictable].iter().map(|&n| u32::from(n)).sum()
    }
}
