//! What an analysis found.

use serde::Serialize;

use super::bursts::Burst;
use super::fallbacks::Fallbacks;
use super::pageblocks::Pageblocks;
use super::rows::{GfpClass, Lifetimes, OrderUse};
use super::timeline::Timeline;

/// Pages whose life the trace does not tell in full.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Unseen {
    /// Pages freed that no event allocated: from before the trace, moved there by compaction, or lost.
    pub freed: u64,
    /// Pages allocated anew while they were held: their frees were lost.
    pub displaced: u64,
    /// Pages that compaction moved away: how long their contents lived on is not known.
    pub moved: u64,
    /// Free pages that compaction took without an event and gave back.
    pub returned: u64,
}

/// How the work is spread over the CPUs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct CpuShare {
    /// Successful requests.
    pub allocs: u64,
    /// Pages allocated.
    pub pages: u64,
    /// Frees.
    pub frees: u64,
    /// Pages freed on this CPU whose allocation was seen.
    pub pages_freed: u64,
    /// Of these, pages that were allocated on another CPU.
    pub pages_from_elsewhere: u64,
}

/// What a trace asks of an allocator.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Analysis {
    /// Events of all kinds.
    pub events: u64,
    /// From the first event to the last, in nanoseconds.
    pub duration_ns: u64,
    /// Blocks that are misaligned or in no zone. They are left out of everything else.
    pub misplaced: u64,
    /// Places at which events are missing.
    pub lost_places: u64,
    /// Pages whose life is not fully known.
    pub unseen: Unseen,
    /// Requests and frees by order.
    pub orders: Vec<OrderUse>,
    /// How long pages live, by type and order.
    pub lifetimes: Vec<Lifetimes>,
    /// Requests by class of their flags, most pages first.
    pub classes: Vec<GfpClass>,
    /// How bursty allocations are, by length of window.
    pub bursts: Vec<Burst>,
    /// How the work is spread over the CPUs, by CPU.
    pub cpus: Vec<CpuShare>,
    /// What the pageblocks hold.
    pub pageblocks: Pageblocks,
    /// Pages allocated and freed over time.
    pub timeline: Timeline,
    /// Requests that were served from blocks of another type.
    pub fallbacks: Fallbacks,
}
