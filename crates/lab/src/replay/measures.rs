//! What a replay measured.

use freehold::{Order, VmEvents, ZoneStats};
use freehold_measure::histogram::ByPowerOfTwo;
use serde::Serialize;

use super::agreement::Agreement;
use super::fallback_place::FallbackPlace;
use super::pageblock_map::PageblockMap;
use crate::counts::{ByOrder, ByOrderAndType, pageblocks};
use crate::recorded::FallbackCount;

/// What one replay measured. Everything but [`Measures::timing`] is the same for every run.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Measures {
    /// The era, and the switches that differ from it.
    pub variant: String,
    /// How well the events could be followed.
    pub followed: Followed,
    /// How the answers agree with the machine's.
    pub agreement: Agreement,
    /// What happened under the zone locks, all zones together.
    pub locked: ZoneStats,
    /// What the replay's reclaim and compaction did. What the machine's own did is in the trace.
    pub events: VmEvents,
    /// Requests answered from another type's block.
    pub type_mismatches: u64,
    /// Requests that were answered only below the low watermark.
    pub slow_paths: u64,
    /// How often kswapd would have been woken for a boosted watermark.
    pub kswapd_wakes: u64,
    /// Pageblocks that hold pages of another type than their own.
    pub mixed: OverTime,
    /// List nodes that a reader of `/proc/pagetypeinfo` visits under the zone locks, at most 100 000 of each
    /// list; 0 for eras that count per migratetype.
    pub nodes: OverTime,
    /// The highest `high` that the tuning of a per-CPU list reached.
    pub highest_high: u32,
    /// Pages on per-CPU lists at the end. The free blocks do not include them.
    pub percpu_pages_at_end: u64,
    /// Whole pageblocks in free blocks at the end.
    pub free_pageblocks_at_end: u64,
    /// Free blocks at the end, by zone.
    pub free_at_end: Vec<ZoneFree>,
    /// The state of the zones, about 100 times over the trace.
    pub samples: Vec<Sample>,
    /// Zone lock holds by the pages and list nodes that each touched.
    pub holds_touched: ByPowerOfTwo,
    /// The engine's metadata in bytes.
    pub metadata_bytes: u64,
    /// The engine's metadata in bytes for each page that the zones span.
    pub metadata_bytes_per_page: f64,
    /// What depends on the machine that the replay ran on.
    pub timing: Timing,
}

/// How well the events of a trace could be followed. Everything that cannot be replayed is counted here.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Followed {
    /// Allocations replayed.
    pub allocs: u64,
    /// Frees replayed.
    pub frees: u64,
    /// Pages that the machine allocated without an event, allocated where the lists show that it must have been.
    pub untraced_allocs: u64,
    /// Allocations whose events came after that of a task that took a later block.
    pub allocs_traced_late: u64,
    /// Requests that fail in the replay and did not on the machine, by order.
    pub failures: ByOrder,
    /// Requests that found no zone above its min mark: the machine had to reclaim for them.
    pub waits: u64,
    /// Further attempts to answer requests that found no zone above its min mark.
    pub attempts_again: u64,
    /// Requests that failed on the machine, by order. The replay tries the costly ones.
    pub machine_failures: ByOrder,
    /// Requests that failed on the machine and that the replay answers, by order. The block is given back at
    /// once.
    pub answered_instead: ByOrder,
    /// Requests for huge pages that the replay answers, those that the machine refused included.
    pub huge_pages: u64,
    /// Requests for huge pages that the replay refuses.
    pub huge_page_failures: u64,
    /// Pages that kswapd was asked to reclaim for boosts of the marks. The replay does not reclaim them: the
    /// trace has what the machine reclaimed.
    pub left_to_trace: u64,
    /// Allocations of frames that were still held. They are freed first. Either the events of their frees were
    /// lost, or they lay on CPUs' lists at the start and the snapshot counted fewer pages there.
    pub double_allocs: u64,
    /// Frees of blocks that nobody allocated: their allocations have no event, or it was lost.
    pub unknown_frees: u64,
    /// Double allocations after the first lost event.
    pub double_allocs_since_loss: u64,
    /// Frees of blocks that nobody allocated, after the first lost event.
    pub unknown_frees_since_loss: u64,
    /// Pages in freed blocks that nobody allocated.
    pub unknown_pages: u64,
    /// Blocks that compaction moved: their old places were freed, and the replay keeps the blocks.
    pub moved_by_compaction: u64,
    /// Frees of blocks that nobody allocated, which are taken for frees of moved blocks at their new places.
    pub moved_then_freed: u64,
    /// Free blocks that compaction took without an event and gave back.
    pub returned_by_compaction: u64,
    /// Blocks that were split because a part of them was freed.
    pub splits: u64,
    /// Frees of a block of which several smaller blocks, or only some pages, were held.
    pub regrouped_frees: u64,
    /// Frees of blocks whose allocation failed in the replay.
    pub skipped_frees: u64,
    /// Events of blocks that are misaligned or in no zone. They are not replayed.
    pub misplaced: u64,
    /// Splits and frees that the engine refused; anything but 0 is an error in Freehold.
    pub refused: u64,
    /// Places at which the ring buffer overflowed.
    pub lost_places: u64,
    /// Events that are missing at these places, as far as the kernel counted them.
    pub lost_events: u64,
    /// Periodic refreshes of all per-CPU lists.
    pub refreshes: u64,
    /// Blocks of the trace that are still in use at the end.
    pub in_use_at_end: u64,
    /// Pages of the blocks that are still in use at the end.
    pub pages_in_use_at_end: u64,
    /// Blocks as large as a pageblock that are still in use at the end: mostly huge pages.
    pub huge_pages_in_use_at_end: u64,
}

/// A number at the start, at the end, and where it is highest.
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
    /// Name of the zone.
    pub zone: String,
    /// Free blocks by order and type.
    pub blocks: ByOrderAndType,
}

/// The zones at one moment.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Sample {
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
    /// Where these requests were answered; empty unless places are looked at ([`super::SampleDetail::Places`]).
    #[serde(skip)]
    pub places: Vec<FallbackPlace>,
    /// What each pageblock holds; every fourth sample has it. It is too much for the JSON of a comparison:
    /// [`crate::Report`] has it.
    #[serde(skip)]
    pub map: Option<PageblockMap>,
}

/// One zone at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ZoneSample {
    /// Free pages.
    pub free_pages: u64,
    /// The share of the free memory that cannot serve a request, by order, in thousandths. Linux counterpart:
    /// `unusable_index`.
    pub unusable_index: ByOrder,
    /// Whether a request would fail for lack of memory (near 0) or for fragmentation (near 1000), by order, in
    /// thousandths; -1000 if it would not fail. Linux counterpart: `extfrag_index`.
    pub extfrag_index: freehold_trace::ByOrder<i64>,
    /// Free blocks by order.
    #[serde(skip)]
    pub free_blocks: ByOrder,
    /// Free blocks by order and type; zero where only totals are looked at ([`super::SampleDetail::Totals`]). They are too
    /// much for the JSON of a comparison: [`crate::Report`] has them.
    #[serde(skip)]
    pub blocks: ByOrderAndType,
}

/// What depends on the machine that the replay ran on.
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

    /// Returns the number of requests that fail in the replay and did not on the machine.
    pub fn failed(&self) -> u64 {
        self.followed.failures.iter().sum()
    }
}
