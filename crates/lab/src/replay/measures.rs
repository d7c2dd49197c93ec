//! What a replay measured.

use freehold::{MAX_ORDERS, Order, VmEvents, ZoneStats};
use freehold_measure::histogram::ByPowerOfTwo;
use serde::Serialize;

use super::pageblock_map::PageblockMap;
use crate::counts::{ByOrder, ByOrderAndType};
use crate::recorded::FallbackCount;

/// What one replay measured. All but [`Measures::timing`] is the same for every run.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Measures {
    /// The era, and switches that differ from it.
    pub variant: String,
    /// How the events could be followed.
    pub followed: Followed,
    /// What happened under the zone locks, all zones together.
    pub locked: ZoneStats,
    /// What reclaim and compaction did; what the machine's own did is in the trace.
    pub events: VmEvents,
    /// Requests answered from another type's block.
    pub type_mismatches: u64,
    /// Requests that passed only at the min watermark or below.
    pub slow_paths: u64,
    /// Times that kswapd would have been woken for a boosted watermark.
    pub kswapd_wakes: u64,
    /// Pageblocks that hold pages of another type than their own.
    pub mixed: OverTime,
    /// List nodes that a reader of `/proc/pagetypeinfo` visits under the zone locks, at most
    /// 100 000 a list. 0 with counts.
    pub nodes: OverTime,
    /// The highest `high` that the tuning of a per-CPU list reached.
    pub highest_high: u32,
    /// Pages on per-CPU lists at the end; not among the free blocks.
    pub percpu_pages_at_end: u64,
    /// Whole pageblocks in free blocks at the end.
    pub free_pageblocks_at_end: u64,
    /// Free blocks at the end, by zone.
    pub free_at_end: Vec<ZoneFree>,
    /// The zones' state about 100 times over the trace.
    pub samples: Vec<Sample>,
    /// Zone lock holds by the pages and list nodes that each touched.
    pub holds_touched: ByPowerOfTwo,
    /// The engine's metadata in bytes.
    pub metadata_bytes: u64,
    /// The same per page spanned.
    pub metadata_bytes_per_page: f64,
    /// What depends on this machine and its noise.
    pub timing: Timing,
}

/// How the events of a trace could be followed. Nothing is dropped without being counted here.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Followed {
    /// Allocations replayed.
    pub allocs: u64,
    /// Frees replayed.
    pub frees: u64,
    /// Requests that fail in the replay and did not on the machine, by order.
    pub failures: ByOrder,
    /// Requests that found no zone above its min mark: the machine had to reclaim for them.
    pub waits: u64,
    /// Further attempts for these.
    pub attempts_again: u64,
    /// Requests that failed on the machine, by order. Costly ones are tried.
    pub machine_failures: ByOrder,
    /// Of these, the ones that the replay has a block for; it is given back at once.
    pub answered_instead: ByOrder,
    /// Requests for huge pages that the replay answers, those that the machine refused included.
    pub huge_pages: u64,
    /// Requests for huge pages that it refuses.
    pub huge_page_failures: u64,
    /// Pages that kswapd was asked to reclaim for boosts of the marks: left to the trace, which
    /// has what the machine reclaimed.
    pub left_to_trace: u64,
    /// Allocations of frames that were still held: freed first. Lost events do that.
    pub double_allocs: u64,
    /// Frees of blocks that nobody allocated: some allocations are unseen, and events get lost.
    pub unknown_frees: u64,
    /// Of the double allocations, those after the first lost event.
    pub double_allocs_since_loss: u64,
    /// Of the frees of blocks that nobody allocated, those after the first lost event.
    pub unknown_frees_since_loss: u64,
    /// Pages in frees that nobody allocated.
    pub unknown_pages: u64,
    /// Blocks that compaction moved: their old places were freed, the replay keeps them.
    pub moved_by_compaction: u64,
    /// Frees of blocks that nobody allocated, taken for such a block at its new place.
    pub moved_then_freed: u64,
    /// Free blocks that compaction took unseen and gave back.
    pub returned_by_compaction: u64,
    /// Blocks taken apart because a part of them was freed.
    pub splits: u64,
    /// Frees that gathered several smaller blocks, or only some of their pages.
    pub regrouped_frees: u64,
    /// Frees of blocks whose allocation fails in the replay.
    pub skipped_frees: u64,
    /// Events of blocks that are misaligned or in no zone; not replayed.
    pub misplaced: u64,
    /// Splits and frees that the engine refused: 0, or Freehold has an error.
    pub refused: u64,
    /// Places at which the ring buffer overflowed.
    pub lost_places: u64,
    /// Events that are missing there, as far as the kernel counted them.
    pub lost_events: u64,
    /// Periodic refreshes of all per-CPU lists.
    pub refreshes: u64,
    /// Blocks that the trace still held at the end.
    pub held_at_end: u64,
    /// Their pages.
    pub held_pages_at_end: u64,
    /// Of these blocks, those as large as a pageblock: huge pages, for the most part.
    pub held_huge_pages_at_end: u64,
}

/// A number at the start, at the end, and at its highest sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct OverTime {
    /// Before the first event.
    pub start: u64,
    /// After the last event.
    pub end: u64,
    /// The highest of all samples.
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
    /// In the order of [`Measures::free_at_end`].
    pub zones: Vec<ZoneSample>,
    /// Mixed pageblocks; looked for in every fourth sample.
    pub mixed: Option<u64>,
    /// List nodes that a reader would visit; counted in every fourth sample.
    pub nodes: Option<u64>,
    /// Requests answered from another type's block since the sample before.
    pub fallbacks: Vec<FallbackCount>,
    /// What each pageblock holds; looked at in every fourth sample. Too much for the JSON of a
    /// comparison: [`crate::Report`] has it.
    #[serde(skip)]
    pub map: Option<PageblockMap>,
}

/// One zone at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ZoneSample {
    /// Free pages.
    pub free_pages: u64,
    /// How much of the free memory cannot serve a request, by order, in thousandths.
    /// Linux counterpart: `unusable_index`.
    pub unusable_index: ByOrder,
    /// Whether a request would fail for lack of memory (0) or for fragmentation (1000),
    /// by order, in thousandths; -1000 where it would not fail.
    /// Linux counterpart: `extfrag_index`.
    pub extfrag_index: [i64; MAX_ORDERS],
    /// Free blocks by order and type. Too much for the JSON of a comparison: [`crate::Report`]
    /// has it.
    #[serde(skip)]
    pub blocks: ByOrderAndType,
}

/// What depends on the machine that the replay ran on.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Timing {
    /// Events a second of the fastest run, sampling left out.
    pub events_per_second: f64,
    /// The longest zone lock hold: of each hold the shortest time over all runs, of those the longest.
    pub longest_hold_ns: u64,
    /// Zone lock holds by nanoseconds: of each hold the shortest time over all runs.
    pub holds_ns: ByPowerOfTwo,
    /// Runs.
    pub runs: u32,
}

impl Measures {
    /// Everything but the timing: equal for equal traces.
    #[must_use]
    pub fn without_timing(&self) -> Self {
        Self { timing: Timing::default(), ..self.clone() }
    }

    /// Free pageblocks that a request of `order` could have, mean over the trace's time.
    pub(crate) fn mean_usable(&self, order: Order) -> f64 {
        let of_zone = |zone: &ZoneSample| {
            zone.free_pages as f64 * (1000 - zone.unusable_index[order.index()]) as f64 / 1000.0
        };
        let samples = self.samples.iter().map(|sample| sample.zones.iter().map(of_zone).sum::<f64>());
        samples.sum::<f64>() / self.samples.len().max(1) as f64 / order.pages() as f64
    }

    /// Requests that fail in the replay and did not on the machine.
    pub fn failed(&self) -> u64 {
        self.followed.failures.iter().sum()
    }
}
