//! Replays a trace through one generation of the allocator.

use std::collections::HashSet;
use std::mem::MaybeUninit;

use freehold::{Memory, Migratetype, Order, PageTypeRows};
use serde::Serialize;

use crate::follow::Follower;
use crate::kcompactd;
use crate::measures::{Measures, Timing, ZoneFree};
use crate::sampling::Sampler;
use crate::start::{Start, StartReport};
use crate::watch::{ReplayLocks, Watch};
use crate::{LabError, Machine, Trace, Variant};

/// How a trace is replayed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Runs of each replay; more than one only serves the times.
    pub runs: u32,
    /// Replays at the same time; `None` for one a processor.
    pub threads: Option<usize>,
    /// Events by which the daemons look at the zones earlier: another of the replays that the trace allows.
    pub shift: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { runs: 3, threads: None, shift: 0 }
    }
}

/// A trace, prepared for any number of replays.
#[derive(Clone, Debug)]
pub struct Lab<'t> {
    /// The trace.
    pub trace: Trace<'t>,
    /// The recorded machine.
    pub machine: Machine,
    /// The state from which every replay starts.
    pub start: Start,
    /// The tasks that are the machine's kcompactd, if the trace tells who compacts.
    pub(crate) kcompactd: Option<HashSet<i32>>,
}

/// One era in depth.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Replay {
    /// What was measured.
    pub measures: Measures,
    /// The state at the end in `/proc/pagetypeinfo`'s format.
    pub pagetypeinfo: String,
}

impl<'t> Lab<'t> {
    /// Works out the machine and its state at the start.
    ///
    /// # Errors
    /// A start snapshot that makes no machine, or a block that is not inside one zone.
    pub fn new(trace: Trace<'t>) -> Result<Self, LabError> {
        let machine = Machine::new(trace.start, trace.events)?;
        let start = Start::new(&machine, trace)?;
        Ok(Self { trace, machine, start, kcompactd: kcompactd::tasks(trace) })
    }

    /// How well the start state agrees with what was recorded.
    pub fn start_report(&self) -> &StartReport {
        &self.start.report
    }

    /// Replays the trace.
    ///
    /// # Errors
    /// [`LabError::Setup`] for a machine that the engine refuses, [`LabError::Broken`] if an
    /// invariant does not hold at the end.
    pub fn replay(&self, variant: &Variant, options: Options) -> Result<Replay, LabError> {
        let mut metadata = self.machine.metadata::<ReplayLocks>(variant.switches());
        let watch = Watch::default();
        let mut replay = self.run(variant, &mut metadata, &watch, options.shift, true)?;
        for _ in 1..options.runs {
            let again = self.run(variant, &mut metadata, &watch, options.shift, false)?.measures.timing;
            let timing = &mut replay.measures.timing;
            timing.events_per_second = timing.events_per_second.max(again.events_per_second);
            timing.longest_hold_ns = again.longest_hold_ns;
            timing.holds_ns = again.holds_ns;
            timing.runs += 1;
        }
        Ok(replay)
    }

    /// Replays once; `first` also takes samples and describes the end.
    fn run(
        &self,
        variant: &Variant,
        metadata: &mut [MaybeUninit<u8>],
        watch: &Watch,
        shift: u32,
        first: bool,
    ) -> Result<Replay, LabError> {
        let switches = variant.switches();
        let memory = Memory::<ReplayLocks>::watched(&self.machine.config(switches), metadata, watch)?;
        memory.set_tunables(self.machine.tunables);
        let traced = self.start.populate(&self.machine, &memory)?;
        memory.zones().iter().for_each(freehold::Zone::reset_stats);
        let events = self.trace.events;
        let span = (events.first().map_or(0, |e| e.time_ns), events.last().map_or(0, |e| e.time_ns));
        let mut follower = Follower::new(&memory, traced, self, shift);
        let sampler = first.then(|| Sampler::new(span.0, span.1));
        let (sampler, elapsed_ns) = self.follow(&mut follower, watch, sampler, first);
        let mut followed = follower.followed;
        let (held, (moved_blocks, moved_pages)) = (follower.traced.held(), follower.kept_by_compaction());
        let pages: u64 = held.iter().enumerate().map(|(order, blocks)| blocks << order).sum();
        followed.held_at_end = held.iter().sum::<u64>() + moved_blocks;
        followed.held_pages_at_end = pages + moved_pages;
        followed.held_huge_pages_at_end = held[self.machine.pageblock_order.index()];
        let requests = memory.request_stats();
        let holds = watch.timer.log();
        let (metadata_bytes, per_page) = self.machine.metadata_bytes::<ReplayLocks>(switches);
        let mut measures = Measures {
            variant: variant.to_string(),
            followed,
            locked: memory.zone_stats(),
            events: memory.vm_events(),
            type_mismatches: requests.type_mismatches,
            slow_paths: requests.slow_paths.saturating_sub(followed.attempts_again),
            kswapd_wakes: requests.kswapd_wakes,
            holds_touched: watch.touched(),
            highest_high: highest_high(&memory),
            percpu_pages_at_end: percpu_pages(&memory),
            free_pageblocks_at_end: self.free_pageblocks(&memory),
            free_at_end: self.free_blocks(&memory),
            metadata_bytes,
            metadata_bytes_per_page: per_page,
            timing: Timing {
                events_per_second: events.len() as f64 * 1e9 / elapsed_ns.max(1) as f64,
                longest_hold_ns: holds.longest_ns(),
                holds_ns: holds.by_power_of_two(),
                runs: 1,
            },
            ..Measures::default()
        };
        if let Some(sampler) = sampler {
            sampler.finish(&mut measures);
        }
        memory.check().map_err(|source| LabError::Broken { variant: variant.to_string(), source })?;
        let pagetypeinfo = if first { self.pagetypeinfo(&memory) } else { String::new() };
        Ok(Replay { measures, pagetypeinfo })
    }

    /// Follows all events; returns the time it took, sampling left out.
    ///
    /// Units: nanoseconds.
    fn follow(
        &self,
        follower: &mut Follower<'_, '_>,
        watch: &Watch,
        mut sampler: Option<Sampler>,
        first_run: bool,
    ) -> (Option<Sampler>, u64) {
        let events = self.trace.events;
        let start_ns = events.first().map_or(0, |event| event.time_ns);
        if let Some(sampler) = &mut sampler {
            sampler.take(follower.memory, watch, start_ns, false);
        }
        // Between two samples there is at least one event.
        let due = |sampler: &Option<Sampler>, now_ns: u64| {
            sampler.as_ref().map_or(u64::MAX, |sampler| sampler.next_ns().max(now_ns.saturating_add(1)))
        };
        let mut due_ns = due(&sampler, start_ns);
        let mut elapsed_ns = 0;
        let stopwatch = watch.timer.stopwatch();
        watch.begin(first_run);
        let mut started_ns = stopwatch.ns();
        events.for_each(|event| {
            if event.time_ns >= due_ns
                && let Some(taker) = &mut sampler
            {
                elapsed_ns += stopwatch.ns() - started_ns;
                watch.timer.pause();
                taker.take(follower.memory, watch, event.time_ns, false);
                watch.timer.resume();
                due_ns = due(&sampler, event.time_ns);
                started_ns = stopwatch.ns();
            }
            follower.event(&event);
        });
        elapsed_ns += stopwatch.ns() - started_ns;
        watch.timer.pause();
        if let Some((sampler, last)) = sampler.as_mut().zip(events.last()) {
            sampler.take(follower.memory, watch, last.time_ns, true);
        }
        (sampler, elapsed_ns)
    }

    /// Whole pageblocks in the machine's own free blocks at its end.
    pub(crate) fn machine_free_pageblocks(&self) -> Option<u64> {
        let end = self.trace.ending?.snapshot.as_ref()?;
        let zones = end.pagetypeinfo.zones.iter().flat_map(|zone| &zone.free);
        let order = self.machine.pageblock_order;
        Some(zones.map(|orders| pageblocks(order, |order| orders[order].blocks)).sum())
    }

    /// Whole pageblocks in free blocks.
    fn free_pageblocks(&self, memory: &Memory<'_, ReplayLocks>) -> u64 {
        let order = self.machine.pageblock_order;
        let zones = memory.zones().iter().map(|zone| {
            let blocks = zone.list_lengths().by_type;
            pageblocks(order, |order| blocks[order].iter().sum())
        });
        zones.sum()
    }

    fn free_blocks(&self, memory: &Memory<'_, ReplayLocks>) -> Vec<ZoneFree> {
        let zones = self.machine.zones.iter().enumerate();
        zones
            .filter_map(|(number, config)| {
                let zone = memory.zone_of(config.start)?;
                let blocks = zone.list_lengths().by_type;
                Some(ZoneFree { zone: self.machine.zone_name(number), blocks })
            })
            .collect()
    }

    fn pagetypeinfo(&self, memory: &Memory<'_, ReplayLocks>) -> String {
        let types = &self.trace.start.pagetypeinfo.types;
        let has = |kind: Migratetype| types.is_empty() || types.contains(&(kind as u8));
        let rows = PageTypeRows { cma: has(Migratetype::Cma), isolate: has(Migratetype::Isolate) };
        let mut text = String::new();
        // Writing into a string does not fail.
        let _ = memory.write_pagetypeinfo(&mut text, rows);
        text
    }
}

/// Pageblocks of `order` in free blocks at least as large as one.
pub(crate) fn pageblocks(order: Order, blocks: impl Fn(usize) -> u64) -> u64 {
    let orders = order.up_to(Order::MAX);
    orders.map(|larger| blocks(larger.index()).saturating_mul(1 << (larger.get() - order.get()))).sum()
}

fn percpu_pages(memory: &Memory<'_, ReplayLocks>) -> u64 {
    let lists = memory.zones().iter().flat_map(|zone| (0..memory.cpus()).map(|cpu| zone.percpu_pages(cpu)));
    lists.map(u64::from).sum()
}

fn highest_high(memory: &Memory<'_, ReplayLocks>) -> u32 {
    let lists = memory.zones().iter().flat_map(|zone| (0..memory.cpus()).map(|cpu| zone.percpu_stats(cpu)));
    lists.flatten().map(|stats| stats.highest_high).max().unwrap_or(0)
}
