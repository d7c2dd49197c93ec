//! The measures of a replay.

use freehold::{Order, VmEvents, ZoneStats};
use freehold_measure::histogram::ByPowerOfTwo;
use serde::Serialize;

use super::agreement::Agreement;
use super::fallback_place::FallbackPlace;
use super::pageblock_map::ReplayPageblocks;
use crate::counts::{ByOrderAndType, CountsByOrder, pageblocks};
use crate::recorded::FallbackCount;

/// The measures of one replay. Everything except [`Measures::timing`] is the same for every run.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Measures {
    /// The name of the variant: the era and the switches that differ from it.
    pub variant: String,
    /// Counts of replayed events, and of events that could not be replayed.
    pub followed: Followed,
    /// The agreement of the answers with those of the machine.
    pub agreement: Agreement,
    /// The counters of all zones together, collected under the zone lock.
    pub locked: ZoneStats,
    /// The reclaim and compaction of the replay. [`Recorded`](crate::Recorded) has those of the machine.
    pub events: VmEvents,
    /// Requests answered with a block of another type.
    pub type_mismatches: u64,
    /// Requests that succeeded only below the low watermark.
    pub slow_paths: u64,
    /// Wake-ups of kswapd for a boosted watermark.
    pub kswapd_wakes: u64,
    /// Pageblocks with pages of another type than their own.
    pub mixed: OverTime,
    /// List nodes that a reader of `/proc/pagetypeinfo` visits under the zone locks, at most 100 000 of each
    /// list; 0 for eras that count per migratetype.
    pub nodes: OverTime,
    /// The highest `high` that the tuning of a per-CPU list reached.
    pub highest_high: u32,
    /// Pages on per-CPU lists at the end. `free_at_end` does not include them.
    pub percpu_pages_at_end: u64,
    /// Whole pageblocks in free blocks at the end.
    pub free_pageblocks_at_end: u64,
    /// Free blocks at the end, by zone.
    pub free_at_end: Vec<ZoneFree>,
    /// The state of the zones, about 100 times over the trace.
    pub samples: Vec<ReplaySample>,
    /// Zone lock holds by the pages and list nodes that each touched.
    pub holds_touched: ByPowerOfTwo,
    /// The engine's metadata in bytes.
    pub metadata_bytes: u64,
    /// The engine's metadata in bytes for each spanned page.
    pub metadata_bytes_per_page: f64,
    /// Times, which depend on the replaying machine.
    pub timing: Timing,
}

/// Counts of replayed events, and of all events that could not be replayed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Followed {
    /// Allocations replayed.
    pub allocs: u64,
    /// Frees replayed.
    pub frees: u64,
    /// Allocations of the machine without an event, replayed at the moment that follows from the lists.
    pub untraced_allocs: u64,
    /// Allocations whose events were recorded after the event of a later allocation by another task.
    pub allocs_traced_late: u64,
    /// Requests that fail in the replay and succeeded on the machine, by order.
    pub failures: CountsByOrder,
    /// Requests that found no zone above its min watermark, so that the machine had to reclaim.
    pub waits: u64,
    /// Further attempts for requests that found no zone above its min watermark.
    pub attempts_again: u64,
    /// Requests that failed on the machine, by order. The replay tries the costly ones.
    pub machine_failures: CountsByOrder,
    /// Requests that failed on the machine and succeed in the replay, by order. The replay frees the block at once.
    pub answered_instead: CountsByOrder,
    /// Requests for huge pages that succeed in the replay, including those that failed on the machine.
    pub huge_pages: u64,
    /// Requests for huge pages that fail in the replay.
    pub huge_page_failures: u64,
    /// Pages that kswapd should reclaim for boosted watermarks. The replay does not reclaim them: pages that the
    /// machine reclaimed are frees in the trace.
    pub left_to_trace: u64,
    /// Allocations of frames in use, which are freed first. Either their free events were lost, or the frames were on
    /// per-CPU lists at the start and the snapshot counted fewer pages there.
    pub double_allocs: u64,
    /// Frees of blocks without an allocation: the allocation had no event, or the event was lost.
    pub unknown_frees: u64,
    /// Double allocations after the first lost event.
    pub double_allocs_since_loss: u64,
    /// Frees of blocks without an allocation, after the first lost event.
    pub unknown_frees_since_loss: u64,
    /// Pages in freed blocks without an allocation.
    pub unknown_pages: u64,
    /// Blocks that compaction moved on the machine: their old places were freed, and they stay in use in the replay.
    pub moved_by_compaction: u64,
    /// Frees of blocks without an allocation that count as frees of moved blocks at their new places.
    pub moved_then_freed: u64,
    /// Free blocks that compaction isolated without an event and then freed.
    pub returned_by_compaction: u64,
    /// Blocks that were split because a part of them was freed.
    pub splits: u64,
    /// Frees of a block of which several smaller blocks, or only some pages, were in use.
    pub regrouped_frees: u64,
    /// Frees of blocks whose allocation failed in the replay.
    pub skipped_frees: u64,
    /// Events of blocks that are misaligned or in no zone. They are not replayed.
    pub misplaced: u64,
    /// Splits and frees that failed in the engine; anything but 0 is a bug in Freehold.
    pub refused: u64,
    /// Places at which the ring buffer overflowed.
    pub lost_places: u64,
    /// Missing events at these places, if the kernel counted them.
    pub lost_events: u64,
    /// Periodic refreshes of all per-CPU lists.
    pub refreshes: u64,
    /// Blocks of the trace in use at the end.
    pub in_use_at_end: u64,
    /// Pages of the blocks in use at the end.
    pub pages_in_use_at_end: u64,
    /// Blocks of the size of a pageblock in use at the end: mostly huge pages.
    pub huge_pages_in_use_at_end: u64,
}

/// A number at the start, at the end, and at its maximum.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct OverTime {
    /// The number before the first event.
    pub start: u64,
    /// The number after the last event.
    pub end: u64,
    /// The highest number of all samples.
    pub max: u64,
}

impl OverTime {
    pub(super) fn add(&mut self, value: u64, first: bool) {
        if first {
            *self = Self { start: value, end: value, max: value };
        } else {
            self.end = value;
            self.max = self.max.max(value);
        }
    }
}

/// The free blocks of one zone.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ZoneFree {
    /// The name of the zone.
    pub zone: String,
    /// Free blocks by order and type.
    pub blocks: ByOrderAndType,
}

/// The zones at one moment.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ReplaySample {
    /// Nanoseconds on the trace's clock.
    pub time_ns: u64,
    /// The state of each zone, in the order of the engine's zones.
    pub zones: Vec<ZoneSample>,
    /// Mixed pageblocks; every fourth sample counts them.
    pub mixed: Option<u64>,
    /// List nodes that a reader of pagetypeinfo would visit; every fourth sample counts them.
    pub nodes: Option<u64>,
    /// Requests answered from another type's block since the sample before.
    pub fallbacks: Vec<FallbackCount>,
    /// The places of these requests; empty without [`super::SampleDetail::Places`].
    #[serde(skip)]
    pub places: Vec<FallbackPlace>,
    /// The contents of each pageblock; in every fourth sample. Too large for the JSON of a comparison:
    /// [`crate::Report`] has it.
    #[serde(skip)]
    pub map: Option<ReplayPageblocks>,
}

/// One zone at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ZoneSample {
    /// Free pages.
    pub free_pages: u64,
    /// The share of the free memory that cannot serve a request, by order, in thousandths. Linux counterpart:
    /// `unusable_index`.
    pub unusable_index: CountsByOrder,
    /// The reason if a request would fail, by order, in thousandths: lack of memory (near 0) or fragmentation (near
    /// 1000). -1000 if the request would succeed. Linux counterpart: `extfrag_index`.
    pub extfrag_index: freehold_trace::ByOrder<i64>,
    /// Free blocks by order.
    #[serde(skip)]
    pub free_blocks: CountsByOrder,
    /// Free blocks by order and type; zero with [`super::SampleDetail::Totals`]. Too large for the JSON of a
    /// comparison: [`crate::Report`] has them.
    #[serde(skip)]
    pub blocks: ByOrderAndType,
}

/// Times, which depend on the replaying machine.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Timing {
    /// Events a second in the fastest run, without the time of sampling.
    pub events_per_second: f64,
    /// The longest zone lock hold. The time of each hold is its shortest over all runs.
    pub longest_hold_ns: u64,
    /// Zone lock holds by nanoseconds. The time of each hold is its shortest over all runs.
    pub holds_ns: ByPowerOfTwo,
    /// The number of runs.
    pub runs: u32,
}

impl Measures {
    /// Returns the measures without the timing: they are equal for equal traces.
    #[must_use]
    pub fn without_timing(&self) -> Self {
        Self { timing: Timing::default(), ..self.clone() }
    }

    /// Returns the number of pageblocks of `order` in free blocks, on average over all samples.
    pub fn mean_free_pageblocks(&self, order: Order) -> f64 {
        let of_zone = |zone: &ZoneSample| pageblocks(order, |order| zone.free_blocks.of(order));
        let samples = self.samples.iter().map(|sample| sample.zones.iter().map(of_zone).sum::<u64>());
        samples.sum::<u64>() as f64 / self.samples.len().max(1) as f64
    }

    /// Returns the number of requests that fail in the replay and succeeded on the machine.
    pub fn failed(&self) -> u64 {
        self.followed.failures.iter().sum()
    }
}
