//! One thing that happened in the page allocator of a recorded machine.

use freehold::{GfpFlags, Migratetype, Order, Pfn};

/// One event of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Event {
    /// Nanoseconds on the trace's clock; never decreases from event to event.
    pub time_ns: u64,
    /// The CPU on which it happened.
    pub cpu: u16,
    /// The task on whose behalf it happened, or 0 where that is unknown.
    pub pid: i32,
    /// What happened.
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EventKind {
    /// `kmem:mm_page_alloc`: a request was answered, or failed where `pfn` is `None`.
    Alloc {
        /// First frame of the block, or `None` where the request failed.
        pfn: Option<Pfn>,
        /// Size of the block.
        order: Order,
        /// The migratetype that was asked for.
        migratetype: Migratetype,
        /// The flags of the request.
        gfp: GfpFlags,
    },
    /// `kmem:mm_page_free`: a block was given back.
    Free {
        /// First frame of the block.
        pfn: Pfn,
        /// Size of the block.
        order: Order,
    },
    /// `kmem:mm_page_alloc_extfrag`: a request was answered from another type's block.
    ExtFrag {
        /// First frame of the block that was found.
        pfn: Pfn,
        /// Size that was asked for.
        order: Order,
        /// Size of the free block that was taken apart.
        fallback_order: Order,
        /// The migratetype that was asked for.
        migratetype: Migratetype,
        /// The migratetype it was found under.
        fallback_migratetype: Migratetype,
        /// True if the whole pageblock changed its type.
        change_ownership: bool,
    },
    /// `kmem:mm_page_alloc_zone_locked`: a block left the free lists under the zone lock.
    ZoneLocked {
        /// First frame of the block.
        pfn: Pfn,
        /// Size of the block.
        order: Order,
        /// The migratetype that was asked for.
        migratetype: Migratetype,
        /// True if it went to a per-CPU list.
        percpu_refill: bool,
    },
    /// `kmem:mm_page_pcpu_drain`: a block left a per-CPU list for the free lists.
    PcpuDrain {
        /// First frame of the block.
        pfn: Pfn,
        /// Size of the block.
        order: Order,
        /// The migratetype of its per-CPU list.
        migratetype: Migratetype,
    },
    /// `compaction:mm_compaction_begin`: the task starts to compact a zone. Until it ends,
    /// what it frees are the old places of pages that it moved, and free pages that it took
    /// and did not need; it takes free pages without an event.
    CompactionBegin,
    /// `compaction:mm_compaction_end`: the task has compacted a zone.
    CompactionEnd,
    /// Pages were looked at, and some of them obtained.
    Work {
        /// Who looked at them.
        work: PageWork,
        /// Pages looked at.
        pages: u64,
        /// Pages that came of it.
        obtained: u64,
    },
    /// `vmscan:mm_vmscan_direct_reclaim_begin`: a request has to reclaim for itself. What ends it is
    /// [`PageWork::DirectReclaim`] of the same task.
    DirectReclaimBegin {
        /// Size of the block that is wanted.
        order: Order,
        /// The flags of the request.
        gfp: GfpFlags,
    },
    /// `vmscan:mm_vmscan_kswapd_wake`: a node's kswapd starts to reclaim.
    KswapdWake {
        /// The order that it reclaims for.
        order: Order,
    },
    /// `vmscan:mm_vmscan_kswapd_sleep`: a node's kswapd is done.
    KswapdSleep,
    /// The ring buffer of `cpu` overflowed and this many events are missing here
    /// (0: some, the kernel did not say how many).
    Lost {
        /// Events that are missing.
        count: u64,
    },
}

/// What looks at pages, and what it is to obtain.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PageWork {
    /// `compaction:mm_compaction_isolate_migratepages`: the migration scanner scanned pages and took some to move.
    IsolateMigratePages,
    /// `compaction:mm_compaction_isolate_freepages`: the free scanner scanned pages and took free ones.
    IsolateFreePages,
    /// `compaction:mm_compaction_fast_isolate_freepages`: the free scanner searched the free lists instead.
    FastIsolateFreePages,
    /// `compaction:mm_compaction_migratepages`: of the pages to be moved, so many were.
    MigratePages,
    /// `vmscan:mm_vmscan_direct_reclaim_end`: a request reclaimed pages for itself; how many it looked at is not told.
    DirectReclaim,
    /// `vmscan:mm_vmscan_lru_shrink_inactive`: pages of an inactive list were scanned, and some reclaimed.
    ShrinkInactive,
    /// `page_isolation:test_pages_isolated`: of a range's pages, those up to the first one in use are free.
    TestIsolated,
    /// `cma:cma_alloc_finish`: pages of a CMA area were asked for, and all or none obtained.
    CmaAlloc,
    /// `cma:cma_release`: pages of a CMA area were given back.
    CmaRelease,
}

impl PageWork {
    /// All of them, in the order of their codes in a trace.
    pub const ALL: [Self; 9] = [
        Self::IsolateMigratePages,
        Self::IsolateFreePages,
        Self::FastIsolateFreePages,
        Self::MigratePages,
        Self::DirectReclaim,
        Self::ShrinkInactive,
        Self::TestIsolated,
        Self::CmaAlloc,
        Self::CmaRelease,
    ];

    /// Linux's name of the event.
    pub const fn event(self) -> &'static str {
        match self {
            Self::IsolateMigratePages => "mm_compaction_isolate_migratepages",
            Self::IsolateFreePages => "mm_compaction_isolate_freepages",
            Self::FastIsolateFreePages => "mm_compaction_fast_isolate_freepages",
            Self::MigratePages => "mm_compaction_migratepages",
            Self::DirectReclaim => "mm_vmscan_direct_reclaim_end",
            Self::ShrinkInactive => "mm_vmscan_lru_shrink_inactive",
            Self::TestIsolated => "test_pages_isolated",
            Self::CmaAlloc => "cma_alloc_finish",
            Self::CmaRelease => "cma_release",
        }
    }
}
