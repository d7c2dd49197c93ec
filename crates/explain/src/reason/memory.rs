//! What the machine's memory is used for.

use serde::Serialize;

use crate::report::Splat;

/// A use of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Use {
    Anonymous,
    Shared,
    PageCache,
    Unevictable,
    SlabUnreclaimable,
    SlabReclaimable,
    PageTables,
    KernelStacks,
    HugePages,
    Free,
    /// In no counter.
    Other,
}

impl Use {
    /// Returns the name in texts.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Anonymous => "anonymous",
            Self::Shared => "shared memory and tmpfs",
            Self::PageCache => "page cache",
            Self::Unevictable => "unevictable",
            Self::SlabUnreclaimable => "slab that cannot be reclaimed",
            Self::SlabReclaimable => "slab that can be reclaimed",
            Self::PageTables => "page tables",
            Self::KernelStacks => "kernel stacks",
            Self::HugePages => "huge page pools",
            Self::Free => "free",
            Self::Other => "in no counter (drivers, balloons, leaks)",
        }
    }
}

/// The machine's memory, shared out. All numbers are pages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct MemoryUse {
    /// The memory of the allocator.
    pub(crate) ram: u64,
    /// Every use, the largest first.
    pub(crate) uses: Vec<(Use, u64)>,
    /// Room in swap, or `None` if the text does not say.
    swap_free: Option<u64>,
    /// Page cache that is dirty or under writeback.
    unclean: u64,
}

/// Memory counts as used up if at least this share can neither be reclaimed nor swapped. Units: percent.
///
/// The kernel kills when reclaim frees nothing, at no fixed share: what is left then is page cache and slab that tasks read back
/// at once. This bound is a convention. Above it the answer needs no other reason; below it the zones must give one.
const USED_UP_PERCENT: u64 = 85;

impl MemoryUse {
    /// Shares memory out. Returns `None` if the text does not count it.
    pub(crate) fn of(splat: &Splat, page_kib: u64) -> Option<Self> {
        let totals = &splat.totals;
        let pages = |name| totals.get(name).unwrap_or(0);
        let from_kib = |kib: u64| kib / page_kib.max(1);
        let ram = totals.ram_pages?.saturating_sub(totals.reserved_pages.unwrap_or(0));
        let anon = totals.get("active_anon:")?.saturating_add(totals.get("inactive_anon:")?);
        let mut uses = vec![
            (Use::Anonymous, anon.saturating_sub(pages("shmem:"))),
            (Use::Shared, pages("shmem:")),
            (Use::PageCache, totals.page_cache().unwrap_or(0)),
            (Use::Unevictable, pages("unevictable:")),
            (Use::SlabUnreclaimable, pages("slab_unreclaimable:")),
            (Use::SlabReclaimable, pages("slab_reclaimable:")),
            (Use::PageTables, pages("pagetables:")),
            (Use::KernelStacks, from_kib(splat.kernel_stack_kib)),
            (Use::HugePages, from_kib(splat.huge_pages_kib)),
            (Use::Free, pages("free:").saturating_add(pages("free_pcp:"))),
        ];
        let known = uses.iter().fold(0_u64, |sum, (_, pages)| sum.saturating_add(*pages));
        // Sums that exceed the memory are damaged.
        let other = ram.checked_sub(known).filter(|_| ram > 0)?;
        uses.push((Use::Other, other));
        uses.sort_by_key(|&(_, pages)| std::cmp::Reverse(pages));
        let swap_free = match (totals.swap_free_kib, totals.swap_total_kib) {
            (_, Some(0)) => Some(0),
            (free, Some(_)) => free.map(from_kib),
            _ => None,
        };
        let unclean = pages("dirty:").saturating_add(pages("writeback:"));
        Some(Self { ram, uses, swap_free, unclean })
    }

    /// Returns the pages of a use.
    pub(crate) fn pages(&self, of: Use) -> u64 {
        self.uses.iter().find(|(known, _)| *known == of).map_or(0, |&(_, pages)| pages)
    }

    /// Returns pages as a share of all memory. Units: percent.
    pub(crate) fn percent(&self, pages: u64) -> u64 {
        pages.saturating_mul(100) / self.ram.max(1)
    }

    /// Returns true if nearly all memory can neither be reclaimed nor swapped.
    pub(crate) fn is_used_up(&self) -> bool {
        let Some(swap) = self.swap_free else { return false };
        let swappable = self.pages(Use::Anonymous).saturating_add(self.pages(Use::Shared)).min(swap);
        let can_go = [Use::Free, Use::PageCache, Use::SlabReclaimable].map(|of| self.pages(of));
        let can_go = can_go.into_iter().fold(swappable, u64::saturating_add);
        self.percent(self.ram.saturating_sub(can_go)) >= USED_UP_PERCENT
    }

    /// Returns true if reclaim has to wait for a disk: half of the page cache or more is dirty or under writeback.
    pub(crate) fn waits_for_writeback(&self) -> bool {
        self.unclean > 0 && self.unclean >= self.pages(Use::PageCache) / 2
    }

    /// Returns the largest use that reclaim cannot free.
    pub(crate) fn largest_fixed(&self) -> Option<Use> {
        let can_go = [Use::Free, Use::PageCache, Use::SlabReclaimable];
        self.uses.iter().map(|&(of, _)| of).find(|of| !can_go.contains(of))
    }
}
