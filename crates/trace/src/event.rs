//! One thing that happened in the page allocator of a recorded machine.

use freehold::{GfpFlags, Migratetype, Order, Pfn};

/// One event of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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
        /// Whether the whole pageblock changed its type.
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
        /// Whether it went to a per-CPU list.
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
    /// The ring buffer of `cpu` overflowed and this many events are missing here
    /// (0: some, the kernel did not say how many).
    Lost {
        /// Events that are missing.
        count: u64,
    },
}
