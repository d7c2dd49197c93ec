//! The result of an analysis.

use serde::Serialize;

use super::bursts::Burst;
use super::fallbacks::Fallbacks;
use super::pageblocks::Pageblocks;
use super::rows::{GfpClass, Lifetimes, OrderUse};
use super::timeline::Timeline;

/// Pages for which the trace lacks the allocation, the free, or a move.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Unseen {
    /// Freed pages without an allocation event: they were allocated before the trace, moved there by compaction,
    /// or their event was lost.
    pub freed: u64,
    /// Pages allocated again while in use: their free events were lost.
    pub displaced: u64,
    /// Pages that compaction moved away: the rest of their lifetime is unknown.
    pub moved: u64,
    /// Free pages that compaction isolated without an event and then freed.
    pub returned: u64,
}

/// The share of one CPU in the work.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct CpuShare {
    /// Successful requests.
    pub allocs: u64,
    /// Pages allocated.
    pub pages: u64,
    /// Frees.
    pub frees: u64,
    /// Pages freed on this CPU whose allocation is in the trace.
    pub pages_freed: u64,
    /// Pages of `pages_freed` that were allocated on another CPU.
    pub pages_from_elsewhere: u64,
}

/// The requests of a trace, and the lifetimes of their pages.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Analysis {
    /// Events of all kinds.
    pub events: u64,
    /// The time from the first event to the last, in nanoseconds.
    pub duration_ns: u64,
    /// Blocks that are misaligned or in no zone. No other number includes them.
    pub misplaced: u64,
    /// Places at which events are missing.
    pub lost_places: u64,
    /// Pages for which the trace lacks the allocation, the free, or a move.
    pub unseen: Unseen,
    /// Requests and frees by order.
    pub orders: Vec<OrderUse>,
    /// Lifetimes of pages, by type and order.
    pub lifetimes: Vec<Lifetimes>,
    /// Requests by class of their flags, most pages first.
    pub classes: Vec<GfpClass>,
    /// Bursts of allocations, by length of window.
    pub bursts: Vec<Burst>,
    /// The share of each CPU in the work, by CPU number.
    pub cpus: Vec<CpuShare>,
    /// The contents of the pageblocks.
    pub pageblocks: Pageblocks,
    /// Pages allocated and freed over time.
    pub timeline: Timeline,
    /// Requests that were served from blocks of another type.
    pub fallbacks: Fallbacks,
}
