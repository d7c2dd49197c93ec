//! Allocation flags, in one numbering for all kernels.

use bitflags::bitflags;

use super::migratetype::Migratetype;
use super::zone_type::ZoneType;

bitflags! {
    /// The flags of a request.
    ///
    /// Every combination of flags is valid. Some flags have less effect than in Linux:
    ///
    /// | flag | effect here |
    /// |---|---|
    /// | `DMA`, `DMA32`, `HIGHMEM`, `MOVABLE` | the highest zone: `Dma`, `Dma32`, with `HIGHMEM` and `MOVABLE` `Movable`, with `HIGHMEM` alone `HighMem`, otherwise `Normal`; of `DMA` and others together the lowest |
    /// | `MOVABLE`, `RECLAIMABLE` | the migratetype; neither is `Unmovable`, both are `Movable` |
    /// | `HIGH` | half of the min watermark may be used; without `DIRECT_RECLAIM` and above order 0 also the reserve for atomic requests; since 6.3 a single page ignores a boost of the watermarks |
    /// | `ATOMIC` | until 6.2 a single page ignores a boost, and nothing else: a caller that cannot wait uses [`GfpFlags::GFP_ATOMIC`] |
    /// | `DIRECT_RECLAIM` | [`crate::Memory::alloc`] reclaims and compacts through the embedder, or with [`crate::NoReclaim`] drains CPUs' lists and the reserve. Without this flag the request never waits, and may use a quarter more of the min watermark, with and without `HIGH` |
    /// | `KSWAPD_RECLAIM` | below the low watermark, the request wakes kswapd and kcompactd; they run when the embedder calls them |
    /// | `IO` | compaction is permitted |
    /// | `FS` | none; the embedder's [`crate::Shrinker`] gets this flag like all others |
    /// | `NORETRY`, `RETRY_MAYFAIL` | fewer rounds of reclaim and compaction, or more above order 3; with `NORETRY` [`crate::Memory::alloc`] does not use a zone's last pageblock of the reserve |
    /// | `NOFAIL` | a last attempt below all watermarks. **It may fail**: where Linux tries for ever, the caller must repeat the request |
    /// | `MEMALLOC`, `NOMEMALLOC` | with `MEMALLOC` no watermark applies; `NOMEMALLOC` overrides it, and also closes the reserves of callers that cannot wait |
    /// | `THISNODE` | only the node of the request |
    /// | `ZERO`, `ZEROTAGS` | none: **the engine never touches memory**, so its caller zeroes it |
    /// | `WRITE`, `NOWARN`, `COMP`, `HARDWALL`, `ACCOUNT`, `NO_OBJ_EXT`, `UNKNOWN` | none |
    ///
    /// If two flags contradict each other, one wins:
    ///
    /// | together | effect |
    /// |---|---|
    /// | `MOVABLE` and `RECLAIMABLE` | `MOVABLE` |
    /// | two of `DMA`, `DMA32`, `HIGHMEM` | the lowest zone |
    /// | `MEMALLOC` and `NOMEMALLOC` | `NOMEMALLOC` |
    /// | `HIGH` and `NOMEMALLOC` | both: half of the min watermark may be used, the reserve for atomic requests may not |
    /// | `NORETRY` and `RETRY_MAYFAIL` | `NORETRY` |
    /// | `NORETRY` and `NOFAIL` | with [`crate::NoReclaim`] the request obeys `NORETRY`; with an embedder it makes one round, then the last attempt |
    /// | `NOFAIL` without `DIRECT_RECLAIM` | `NOFAIL` has no effect: a request that cannot wait may fail |
    /// | `THISNODE` and zone flags for a zone that the node does not have | the request fails |
    ///
    /// The bit positions are Freehold's own. Linux renumbers its flags from
    /// release to release, so recorders translate them by name.
    /// Linux counterpart: `gfp_t`.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub struct GfpFlags: u32 {
        /// `__GFP_DMA`: from `ZONE_DMA` only.
        const DMA = 1 << 0;
        /// `__GFP_HIGHMEM`: `ZONE_HIGHMEM` will do.
        const HIGHMEM = 1 << 1;
        /// `__GFP_DMA32`: from `ZONE_DMA32` or below.
        const DMA32 = 1 << 2;
        /// `__GFP_MOVABLE`: the page can be migrated.
        const MOVABLE = 1 << 3;
        /// `__GFP_RECLAIMABLE`: the page can be reclaimed by shrinkers.
        const RECLAIMABLE = 1 << 4;
        /// `__GFP_HIGH`: the caller may use half of the reserves.
        const HIGH = 1 << 5;
        /// `__GFP_IO`: reclaim may start I/O.
        const IO = 1 << 6;
        /// `__GFP_FS`: reclaim may call into file systems.
        const FS = 1 << 7;
        /// `__GFP_ZERO`: the page should be zeroed. The caller must do that: the engine never touches memory.
        const ZERO = 1 << 8;
        /// `__GFP_DIRECT_RECLAIM`: the caller may reclaim by itself.
        const DIRECT_RECLAIM = 1 << 9;
        /// `__GFP_KSWAPD_RECLAIM`: kswapd is woken at the low watermark.
        const KSWAPD_RECLAIM = 1 << 10;
        /// `__GFP_WRITE`: the caller will dirty the page.
        const WRITE = 1 << 11;
        /// `__GFP_NOWARN`: failure is not logged.
        const NOWARN = 1 << 12;
        /// `__GFP_RETRY_MAYFAIL`: try hard, but fail in the end.
        const RETRY_MAYFAIL = 1 << 13;
        /// `__GFP_NOFAIL`: never fail. The engine makes an attempt below all watermarks, and may still fail.
        const NOFAIL = 1 << 14;
        /// `__GFP_NORETRY`: fail instead of trying hard.
        const NORETRY = 1 << 15;
        /// `__GFP_MEMALLOC`: all reserves may be used.
        const MEMALLOC = 1 << 16;
        /// `__GFP_COMP`: a compound page.
        const COMP = 1 << 17;
        /// `__GFP_NOMEMALLOC`: never touch the reserves.
        const NOMEMALLOC = 1 << 18;
        /// `__GFP_HARDWALL`: cpuset limits apply.
        const HARDWALL = 1 << 19;
        /// `__GFP_THISNODE`: this node only.
        const THISNODE = 1 << 20;
        /// `__GFP_ACCOUNT`: charged to a memory cgroup.
        const ACCOUNT = 1 << 21;
        /// `__GFP_ZEROTAGS`: memory tags should be zeroed.
        const ZEROTAGS = 1 << 22;
        /// `__GFP_ATOMIC`: the caller cannot wait (kernels before 6.3). Callers that cannot wait use
        /// [`GfpFlags::GFP_ATOMIC`] instead.
        const ATOMIC = 1 << 23;
        /// `__GFP_NO_OBJ_EXT`: no slab object extensions.
        const NO_OBJ_EXT = 1 << 24;
        /// A flag that the recorder did not know.
        const UNKNOWN = 1 << 31;
    }
}

impl GfpFlags {
    /// `__GFP_RECLAIM`: direct reclaim and kswapd.
    pub const RECLAIM: Self = Self::DIRECT_RECLAIM.union(Self::KSWAPD_RECLAIM);
    /// `GFP_NOWAIT` as kernels since 6.6 define it.
    pub const NOWAIT: Self = Self::KSWAPD_RECLAIM.union(Self::NOWARN);
    /// `GFP_ATOMIC`: the flags of a caller that cannot wait, such as an interrupt.
    pub const GFP_ATOMIC: Self = Self::HIGH.union(Self::KSWAPD_RECLAIM);
    /// `GFP_NOIO`.
    pub const NOIO: Self = Self::RECLAIM;
    /// `GFP_NOFS`.
    pub const NOFS: Self = Self::RECLAIM.union(Self::IO);
    /// `GFP_KERNEL`.
    pub const KERNEL: Self = Self::NOFS.union(Self::FS);
    /// `GFP_KERNEL_ACCOUNT`.
    pub const KERNEL_ACCOUNT: Self = Self::KERNEL.union(Self::ACCOUNT);
    /// `GFP_USER`.
    pub const USER: Self = Self::KERNEL.union(Self::HARDWALL);
    /// `GFP_HIGHUSER`.
    pub const HIGHUSER: Self = Self::USER.union(Self::HIGHMEM);
    /// `GFP_HIGHUSER_MOVABLE`.
    pub const HIGHUSER_MOVABLE: Self = Self::HIGHUSER.union(Self::MOVABLE);
    /// `GFP_TRANSHUGE_LIGHT`.
    pub const TRANSHUGE_LIGHT: Self = Self::HIGHUSER_MOVABLE
        .union(Self::COMP)
        .union(Self::NOMEMALLOC)
        .union(Self::NOWARN)
        .difference(Self::RECLAIM);
    /// `GFP_TRANSHUGE`.
    pub const TRANSHUGE: Self = Self::TRANSHUGE_LIGHT.union(Self::DIRECT_RECLAIM);

    /// Returns the migratetype that the flags request.
    ///
    /// Linux counterpart: `gfp_migratetype`.
    pub const fn migratetype(self) -> Migratetype {
        const BY_FLAGS: [Migratetype; 4] =
            [Migratetype::Unmovable, Migratetype::Movable, Migratetype::Reclaimable, Migratetype::Movable];
        const { assert!(GfpFlags::MOVABLE.bits() << 1 == GfpFlags::RECLAIMABLE.bits()) };
        BY_FLAGS[(self.bits() >> Self::MOVABLE.bits().trailing_zeros() & 3) as usize]
    }

    /// Returns the highest zone that a request may use. Linux counterpart: `gfp_zone`.
    pub fn highest_zone(self) -> ZoneType {
        const BY_FLAGS: [ZoneType; 16] = {
            let mut table = [ZoneType::Normal; 16];
            let mut flags = 0;
            while flags < table.len() {
                let gfp = GfpFlags::from_bits_truncate(flags as u32);
                table[flags] = if gfp.contains(GfpFlags::DMA) {
                    ZoneType::Dma
                } else if gfp.contains(GfpFlags::DMA32) {
                    ZoneType::Dma32
                } else if gfp.contains(GfpFlags::HIGHMEM.union(GfpFlags::MOVABLE)) {
                    ZoneType::Movable
                } else if gfp.contains(GfpFlags::HIGHMEM) {
                    ZoneType::HighMem
                } else {
                    ZoneType::Normal
                };
                flags += 1;
            }
            table
        };
        BY_FLAGS[(self.bits() & 0xf) as usize]
    }

    /// Returns the names that Linux prints, each with its flags, composite names first. The text of the `kmem` trace
    /// events lists a name if all of its flags are set, and removes these flags before it tests the next name.
    ///
    /// Linux counterpart: `__def_gfpflag_names`.
    pub fn linux_names() -> impl Iterator<Item = (&'static str, Self)> {
        LINUX_NAMES.into_iter()
    }

    /// Returns the names that Linux prints for these flags, each with its flags.
    ///
    /// A flag that has no name is left out.
    pub fn named(self) -> impl Iterator<Item = (&'static str, Self)> {
        let mut rest = self;
        Self::linux_names().filter(move |&(_, flags)| {
            let has = !flags.is_empty() && rest.contains(flags);
            rest = if has { rest.difference(flags) } else { rest };
            has
        })
    }

    /// Returns the flag or set of flags that Linux prints as `name`.
    ///
    /// Accepts the composite names (`GFP_KERNEL`) and the single ones (`__GFP_COMP`) of the `kmem` trace events.
    /// Returns `None` for any other name.
    pub fn from_linux_name(name: &str) -> Option<Self> {
        LINUX_NAMES.iter().find(|(known, _)| *known == name).map(|&(_, flags)| flags)
    }
}

const LINUX_NAMES: [(&str, GfpFlags); 42] = [
    ("GFP_TRANSHUGE", GfpFlags::TRANSHUGE),
    ("GFP_TRANSHUGE_LIGHT", GfpFlags::TRANSHUGE_LIGHT),
    ("GFP_HIGHUSER_MOVABLE", GfpFlags::HIGHUSER_MOVABLE),
    ("GFP_HIGHUSER", GfpFlags::HIGHUSER),
    ("GFP_USER", GfpFlags::USER),
    ("GFP_KERNEL_ACCOUNT", GfpFlags::KERNEL_ACCOUNT),
    ("GFP_KERNEL", GfpFlags::KERNEL),
    ("GFP_NOFS", GfpFlags::NOFS),
    ("GFP_ATOMIC", GfpFlags::GFP_ATOMIC),
    ("GFP_NOIO", GfpFlags::NOIO),
    ("GFP_NOWAIT", GfpFlags::NOWAIT),
    ("GFP_DMA", GfpFlags::DMA),
    ("GFP_DMA32", GfpFlags::DMA32),
    ("__GFP_RECLAIM", GfpFlags::RECLAIM),
    ("__GFP_DMA", GfpFlags::DMA),
    ("__GFP_HIGHMEM", GfpFlags::HIGHMEM),
    ("__GFP_DMA32", GfpFlags::DMA32),
    ("__GFP_MOVABLE", GfpFlags::MOVABLE),
    ("__GFP_RECLAIMABLE", GfpFlags::RECLAIMABLE),
    ("__GFP_HIGH", GfpFlags::HIGH),
    ("__GFP_IO", GfpFlags::IO),
    ("__GFP_FS", GfpFlags::FS),
    ("__GFP_ZERO", GfpFlags::ZERO),
    ("__GFP_DIRECT_RECLAIM", GfpFlags::DIRECT_RECLAIM),
    ("__GFP_KSWAPD_RECLAIM", GfpFlags::KSWAPD_RECLAIM),
    ("__GFP_WRITE", GfpFlags::WRITE),
    ("__GFP_NOWARN", GfpFlags::NOWARN),
    ("__GFP_RETRY_MAYFAIL", GfpFlags::RETRY_MAYFAIL),
    ("__GFP_NOFAIL", GfpFlags::NOFAIL),
    ("__GFP_NORETRY", GfpFlags::NORETRY),
    ("__GFP_MEMALLOC", GfpFlags::MEMALLOC),
    ("__GFP_COMP", GfpFlags::COMP),
    ("__GFP_NOMEMALLOC", GfpFlags::NOMEMALLOC),
    ("__GFP_HARDWALL", GfpFlags::HARDWALL),
    ("__GFP_THISNODE", GfpFlags::THISNODE),
    ("__GFP_ACCOUNT", GfpFlags::ACCOUNT),
    ("__GFP_ZEROTAGS", GfpFlags::ZEROTAGS),
    ("__GFP_ATOMIC", GfpFlags::ATOMIC),
    ("__GFP_NO_OBJ_EXT", GfpFlags::NO_OBJ_EXT),
    // Kernels 5.18 to 6.2 name the KASAN flags, which the allocator's placement ignores.
    ("__GFP_SKIP_ZERO", GfpFlags::empty()),
    ("__GFP_SKIP_KASAN", GfpFlags::empty()),
    ("__GFP_NOLOCKDEP", GfpFlags::empty()),
];
