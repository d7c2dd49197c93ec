//! An event of a caller.

use freehold::GfpFlags;

/// A kernel stack's number in [`super::CallerWatch::stack`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CallerStack(pub(super) u32);

impl CallerStack {
    /// Returns the number as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Something that a task did for a request of the watched orders.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallerEvent {
    /// When, by `CLOCK_MONOTONIC`.
    pub time_ns: u64,
    /// Who.
    pub by: CallerBy,
    /// What it did.
    pub kind: CallerKind,
}

/// Who did something.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CallerBy {
    /// A task, by its number in the first pid namespace.
    Task(i32),
    /// An interrupt on this CPU, whatever task it interrupted.
    Interrupt(u32),
}

/// What a task did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallerKind {
    /// Events are missing here: what a task is doing is not known any more.
    Lost,
    /// It requested a block and got it or not. It comes after what the task did for it.
    Request {
        /// The order of the block.
        order: u8,
        /// The flags of the request.
        gfp: GfpFlags,
        /// True if it got none: no zone had a block, or its memory cgroup was at its limit.
        failed: bool,
        /// From where, if the kernel tells.
        stack: Option<CallerStack>,
    },
    /// It may begin to compact zones for a request of the watched orders.
    Compaction,
    /// It begins to compact a zone, for a request of any order.
    CompactionBegin,
    /// It has compacted a zone.
    CompactionEnd,
    /// It begins to reclaim pages for a request of the watched orders.
    ReclaimBegin,
    /// It has reclaimed pages, for a request of any order.
    ReclaimEnd,
    /// It woke kswapd.
    KswapdWake,
    /// It woke kcompactd.
    KcompactdWake,
    /// Its block came from the free list of another migratetype.
    Fallback {
        /// True if the whole pageblock changed its type.
        claimed: bool,
    },
}
