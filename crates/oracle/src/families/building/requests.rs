//! The requests of scripts, with flags as callers in the kernel use them.

use freehold::GfpFlags;

use crate::kernel::KernelVersion;

/// `GFP_TRANSHUGE_LIGHT` without the compound page.
const HUGE_LIGHT: GfpFlags = GfpFlags::TRANSHUGE_LIGHT.difference(GfpFlags::COMP);
/// `GFP_TRANSHUGE` without the compound page.
const HUGE: GfpFlags = GfpFlags::TRANSHUGE.difference(GfpFlags::COMP);
/// A reclaimable slab cache.
const SLAB_RECLAIMABLE: GfpFlags = GfpFlags::KERNEL.union(GfpFlags::RECLAIMABLE);
/// The page cache of a file system under `GFP_NOFS`.
const PAGE_CACHE: GfpFlags = GfpFlags::NOFS.union(GfpFlags::MOVABLE).union(GfpFlags::HIGHMEM);

const UNMOVABLE: [GfpFlags; 8] = [
    GfpFlags::KERNEL,
    GfpFlags::USER,
    GfpFlags::NOFS,
    GfpFlags::NOIO,
    GfpFlags::HIGHUSER,
    GfpFlags::KERNEL.union(GfpFlags::NORETRY).union(GfpFlags::NOWARN),
    GfpFlags::KERNEL.union(GfpFlags::RETRY_MAYFAIL),
    GfpFlags::NOWAIT,
];
const MOVABLE: [GfpFlags; 4] = [GfpFlags::HIGHUSER_MOVABLE, PAGE_CACHE, HUGE_LIGHT, HUGE];
const RECLAIMABLE: [GfpFlags; 4] = [
    SLAB_RECLAIMABLE,
    GfpFlags::NOFS.union(GfpFlags::RECLAIMABLE),
    GfpFlags::NOWAIT.union(GfpFlags::RECLAIMABLE),
    SLAB_RECLAIMABLE.union(GfpFlags::NORETRY),
];

/// The kind of a page: unmovable, movable by compaction, or reclaimable by a shrinker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::families) enum Kind {
    Unmovable,
    Movable,
    Reclaimable,
}

impl Kind {
    pub(in crate::families) const ALL: [Self; 3] = [Self::Unmovable, Self::Movable, Self::Reclaimable];

    /// Returns the flags of ordinary requests of this kind.
    pub(super) const fn requests(self) -> &'static [GfpFlags] {
        match self {
            Self::Unmovable => &UNMOVABLE,
            Self::Movable => &MOVABLE,
            Self::Reclaimable => &RECLAIMABLE,
        }
    }
}

/// Access to memory below the watermarks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::families) enum Rights {
    Plain,
    NoWait,
    Atomic,
    AtomicNoReserve,
    /// `__GFP_HIGH` alone. Before 6.3 it gave less access than an atomic request.
    High,
    MemAlloc,
    MemAllocNot,
}

impl Rights {
    pub(super) const ALL: [Self; 7] = [
        Self::Plain,
        Self::NoWait,
        Self::Atomic,
        Self::AtomicNoReserve,
        Self::High,
        Self::MemAlloc,
        Self::MemAllocNot,
    ];

    /// Returns the flags of a request with this access, as callers in the kernel use them.
    pub(in crate::families) fn gfp(self, kernel: KernelVersion) -> GfpFlags {
        let atomic = match kernel {
            KernelVersion::V6_1 => GfpFlags::GFP_ATOMIC | GfpFlags::ATOMIC,
            _ => GfpFlags::GFP_ATOMIC,
        };
        match self {
            Self::Plain => GfpFlags::KERNEL,
            Self::NoWait => GfpFlags::NOWAIT,
            Self::Atomic => atomic,
            Self::High => GfpFlags::GFP_ATOMIC,
            Self::AtomicNoReserve => atomic | GfpFlags::NOMEMALLOC | GfpFlags::NOWARN,
            Self::MemAlloc => GfpFlags::NOIO | GfpFlags::MEMALLOC,
            Self::MemAllocNot => GfpFlags::KERNEL | GfpFlags::MEMALLOC | GfpFlags::NOMEMALLOC,
        }
    }
}
