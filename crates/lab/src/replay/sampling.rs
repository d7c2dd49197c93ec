//! Samples of the zones during a replay.

use freehold::{Memory, PAGETYPEINFO_CAP};
use freehold_trace::ByOrder;

use super::fallback_place::{FallbackPlace, PageblockStarts};
use super::measures::{Measures, ReplaySample, ZoneSample};
use super::options::SampleDetail;
use super::pageblock_map::ReplayPageblocks;
use super::watch::{ReplayPlatform, Watch};
use crate::counts::of_machine;

/// The number of samples over the time of the trace.
const SAMPLES: u64 = 100;

/// One of this number of samples also walks pageblocks and lists, which takes longer.
const WALK_EVERY: usize = 4;

/// The times at which samples are due.
pub(crate) struct Schedule {
    step_ns: u64,
    next_ns: u64,
}

impl Schedule {
    /// Returns a schedule with samples at equal distances from the first to the last event.
    pub(crate) fn new(first_ns: u64, last_ns: u64) -> Self {
        let step_ns = (last_ns.saturating_sub(first_ns) / SAMPLES).max(1);
        Self { step_ns, next_ns: first_ns.saturating_add(step_ns) }
    }

    /// Returns the due time of the next sample, which is taken after all earlier events.
    pub(crate) fn next_ns(&self) -> u64 {
        self.next_ns
    }

    /// Advances to the first sample that is due after `now_ns`.
    pub(crate) fn advance(&mut self, now_ns: u64) {
        let Some(late_ns) = now_ns.checked_sub(self.next_ns) else { return };
        let steps = late_ns / self.step_ns + 1;
        self.next_ns = self.next_ns.saturating_add(steps.saturating_mul(self.step_ns));
    }
}

/// Takes and keeps samples.
pub(super) struct Sampler {
    schedule: Schedule,
    detail: SampleDetail,
    samples: Vec<ReplaySample>,
    /// The starts of pageblocks, which do not change, if samples have the places of fallbacks.
    starts: Option<PageblockStarts>,
}

impl Sampler {
    /// Returns a sampler with samples at equal distances from the first to the last event.
    pub(super) fn new(detail: SampleDetail, first_ns: u64, last_ns: u64) -> Self {
        Self { schedule: Schedule::new(first_ns, last_ns), detail, samples: Vec::new(), starts: None }
    }

    /// Returns the due time of the next sample, which is taken after all earlier events.
    pub(super) fn next_ns(&self) -> u64 {
        self.schedule.next_ns()
    }

    /// Takes a sample; `now_ns` is the time of the next event. The last sample always walks pageblocks and lists.
    pub(super) fn take(
        &mut self,
        memory: &Memory<'_, ReplayPlatform>,
        watch: &Watch,
        now_ns: u64,
        last: bool,
    ) {
        let number = self.samples.len();
        let walk = last
            || match self.detail {
                SampleDetail::All => number.is_multiple_of(WALK_EVERY),
                SampleDetail::Places => true,
                SampleDetail::Totals => number == 0,
            };
        let zones: Vec<_> = memory.zones().iter().map(|zone| zone_sample(zone, self.detail)).collect();
        let map = walk.then(|| ReplayPageblocks::new(memory));
        let places = self.places(memory, watch);
        self.samples.push(ReplaySample {
            time_ns: now_ns,
            mixed: map.as_ref().map(ReplayPageblocks::mixed),
            nodes: walk.then(|| nodes_visited(memory)),
            zones,
            fallbacks: watch.take_fallbacks(),
            places,
            map,
        });
        self.schedule.advance(now_ns);
    }

    /// Returns the places of the fallbacks since the previous sample.
    fn places(&mut self, memory: &Memory<'_, ReplayPlatform>, watch: &Watch) -> Vec<FallbackPlace> {
        if self.detail != SampleDetail::Places {
            return Vec::new();
        }
        let starts = self.starts.get_or_insert_with(|| PageblockStarts::new(memory));
        let found = watch.take_found().into_iter();
        found.filter_map(|(time_ns, found)| starts.place(memory, time_ns, found)).collect()
    }

    /// Returns the latest sample.
    pub(super) fn last(&self) -> Option<&ReplaySample> {
        self.samples.last()
    }

    /// Writes the samples, and the numbers over time, into the measures.
    pub(super) fn finish(self, measures: &mut Measures) {
        for (number, sample) in self.samples.iter().enumerate() {
            if let Some(mixed) = sample.mixed {
                measures.mixed.add(mixed, number == 0);
            }
            if let Some(nodes) = sample.nodes {
                measures.nodes.add(nodes, number == 0);
            }
        }
        measures.samples = self.samples;
    }
}

fn zone_sample(zone: &freehold::Zone<'_, ReplayPlatform>, detail: SampleDetail) -> ZoneSample {
    let counts = match detail {
        SampleDetail::All | SampleDetail::Places => zone.list_lengths(),
        SampleDetail::Totals => zone.counts_relaxed(),
    };
    let largest = zone.max_order();
    ZoneSample {
        free_pages: counts.free_pages(),
        unusable_index: ByOrder::from_fn(largest, |order| counts.unusable_index(order)),
        extfrag_index: ByOrder::from_fn(largest, |order| counts.extfrag_index(order)),
        free_blocks: of_machine(largest, &counts.total),
        blocks: of_machine(largest, &counts.by_type),
    }
}

/// Returns the number of list nodes that a reader of pagetypeinfo would visit now.
fn nodes_visited(memory: &Memory<'_, ReplayPlatform>) -> u64 {
    if memory.switches().counts {
        return 0;
    }
    let lists = memory.zones().iter().flat_map(|zone| zone.list_lengths().by_type);
    lists.flatten().map(|blocks| blocks.min(PAGETYPEINFO_CAP)).sum()
}
