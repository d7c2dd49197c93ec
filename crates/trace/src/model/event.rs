//! An event in the page allocator of a recorded machine.

use freehold::{GfpFlags, Migratetype, Order, Pfn};

/// One event of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Event {
    /// Nanoseconds on the trace's clock. The time never decreases from event to event.
    pub time_ns: u64,
    /// The CPU on which the event happened.
    pub cpu: u16,
    /// The task that caused the event, or 0 if unknown.
    pub pid: i32,
    /// The kind of the event, with its details.
    pub kind: EventKind,
}

/// The kind of an event, with its details.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EventKind {
    /// `kmem:mm_page_alloc`: an allocation succeeded, or failed if `pfn` is `None`.
    Alloc {
        /// First frame of the block, or `None` if the allocation failed.
        pfn: Option<Pfn>,
        /// Size of the block.
        order: Order,
        /// The requested migratetype.
        migratetype: Migratetype,
        /// The request's GFP flags.
        gfp: GfpFlags,
    },
    /// `kmem:mm_page_free`: a block was freed.
    Free {
        /// First frame of the block.
        pfn: Pfn,
        /// Size of the block.
        order: Order,
    },
    /// `kmem:mm_page_alloc_extfrag`: a request was served from another type's block.
    ExtFrag {
        /// First frame of the block that was found.
        pfn: Pfn,
        /// The requested order.
        order: Order,
        /// Order of the free block that was split.
        fallback_order: Order,
        /// The requested migratetype.
        migratetype: Migratetype,
        /// The migratetype of the free list.
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
        /// The requested migratetype.
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
    /// `compaction:mm_compaction_begin`: the task starts to compact a zone. Until the compaction ends, all frees of the
    /// task are old places of moved pages, or isolated free pages that were not needed. The task takes free pages
    /// without an event.
    CompactionBegin,
    /// `compaction:mm_compaction_end`: the task has compacted a zone.
    CompactionEnd,
    /// Pages were examined, and some of them obtained.
    Work {
        /// The kind of work.
        work: PageWork,
        /// Pages examined.
        pages: u64,
        /// Pages obtained.
        obtained: u64,
    },
    /// `vmscan:mm_vmscan_direct_reclaim_begin`: a request starts direct reclaim. It ends with
    /// [`PageWork::DirectReclaim`] of the same task.
    DirectReclaimBegin {
        /// The requested order.
        order: Order,
        /// The request's GFP flags.
        gfp: GfpFlags,
    },
    /// `vmscan:mm_vmscan_kswapd_wake`: a node's kswapd starts to reclaim.
    KswapdWake {
        /// The order for which kswapd reclaims.
        order: Order,
    },
    /// `vmscan:mm_vmscan_kswapd_sleep`: a node's kswapd goes to sleep.
    KswapdSleep,
    /// The ring buffer of `cpu` overflowed, and events are missing at this place.
    Lost {
        /// The number of missing events; 0 if the kernel did not report it.
        count: u64,
    },
}

impl EventKind {
    /// Returns the first frame and the order of the event's block, if the event has a block.
    pub const fn block(&self) -> Option<(Pfn, Order)> {
        match *self {
            Self::Alloc { pfn: Some(pfn), order, .. }
            | Self::Free { pfn, order }
            | Self::ExtFrag { pfn, order, .. }
            | Self::ZoneLocked { pfn, order, .. }
            | Self::PcpuDrain { pfn, order, .. } => Some((pfn, order)),
            _ => None,
        }
    }

    /// Returns a mutable reference to the first frame of the event's block, if the event has a block.
    #[inline]
    pub const fn pfn_mut(&mut self) -> Option<&mut Pfn> {
        match self {
            Self::Alloc { pfn, .. } => pfn.as_mut(),
            Self::Free { pfn, .. }
            | Self::ExtFrag { pfn, .. }
            | Self::ZoneLocked { pfn, .. }
            | Self::PcpuDrain { pfn, .. } => Some(pfn),
            _ => None,
        }
    }
}

/// Work that examines pages and obtains some of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PageWork {
    /// `compaction:mm_compaction_isolate_migratepages`: the migration scanner scanned pages and took some to move.
    IsolateMigratePages,
    /// `compaction:mm_compaction_isolate_freepages`: the free scanner scanned pages and took free ones.
    IsolateFreePages,
    /// `compaction:mm_compaction_fast_isolate_freepages`: the free scanner searched the free lists, and not the zone.
    FastIsolateFreePages,
    /// `compaction:mm_compaction_migratepages`: pages were selected for migration, and some of them migrated.
    MigratePages,
    /// `vmscan:mm_vmscan_direct_reclaim_end`: a request reclaimed pages. The number of examined pages
    /// is unknown.
    DirectReclaim,
    /// `vmscan:mm_vmscan_lru_shrink_inactive`: pages of an inactive list were scanned, and some reclaimed.
    ShrinkInactive,
    /// `page_isolation:test_pages_isolated`: the pages of a range, and the number of free pages before the first page
    /// in use.
    TestIsolated,
    /// `cma:cma_alloc_finish`: pages of a CMA area were requested, and all or none of them obtained.
    CmaAlloc,
    /// `cma:cma_release`: pages of a CMA area were freed.
    CmaRelease,
}

impl PageWork {
    /// Every kind of work, in the order of the codes in a trace.
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

    /// Returns Linux's name of the event.
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
