//! Replays a trace in one variant of the allocator.

use std::mem::MaybeUninit;

use freehold::Memory;
use serde::Serialize;

use super::ending;
use super::follow::Follower;
use super::lab::Lab;
use super::ledger::Holders;
use super::measures::{Measures, ReplaySample, Timing};
use super::options::{Options, SampleDetail};
use super::parallel::in_parallel;
use super::rule::Ruling;
use super::sampling::Sampler;
use super::untraced::{Search, UntracedAlloc};
use super::variant::Variant;
use super::watch::{ReplayPlatform, Watch};
use crate::error::LabError;

/// The result of one replay.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Replay {
    /// The measures.
    pub measures: Measures,
    /// The state at the end, in the format of `/proc/pagetypeinfo`.
    pub pagetypeinfo: String,
}

/// A moment of a replay.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'r> {
    /// The number of events so far.
    pub events: usize,
    /// The state of the zones.
    pub sample: &'r ReplaySample,
}

/// A callback for the moments of a replay.
type Observer<'t> = &'t mut dyn FnMut(Moment<'_>);

impl Lab<'_> {
    /// Replays the trace in one variant of the allocator.
    ///
    /// # Errors
    /// [`LabError::Setup`] if the engine refuses the machine, [`LabError::Broken`] if an invariant does not hold
    /// at the end.
    pub fn replay(&self, variant: &Variant, options: Options) -> Result<Replay, LabError> {
        self.replay_observed(variant, options, &mut |_| {})
    }

    /// Replays the trace as [`Lab::replay`] does, and calls `observer` with each moment after its sample.
    ///
    /// # Errors
    /// As [`Lab::replay`].
    pub fn replay_observed(
        &self,
        variant: &Variant,
        options: Options,
        observer: &mut dyn FnMut(Moment<'_>),
    ) -> Result<Replay, LabError> {
        variant.refuse_uncalled_rule()?;
        let mut metadata = self.machine.metadata::<ReplayPlatform>(variant.switches());
        let watch = Watch::default();
        let mut replay = self.run(variant, &mut metadata, &watch, options, Some(observer))?;
        for _ in 1..options.runs {
            let again = self.run(variant, &mut metadata, &watch, options, None)?.measures.timing;
            let timing = &mut replay.measures.timing;
            timing.events_per_second = timing.events_per_second.max(again.events_per_second);
            timing.longest_hold_ns = again.longest_hold_ns;
            timing.holds_ns = again.holds_ns;
            timing.runs += 1;
        }
        Ok(replay)
    }

    /// Replays once. The first run, which has an `observer`, also takes samples and records the end state.
    fn run(
        &self,
        variant: &Variant,
        metadata: &mut [MaybeUninit<u8>],
        watch: &Watch,
        options: Options,
        observer: Option<Observer<'_>>,
    ) -> Result<Replay, LabError> {
        if self.control.is_interrupted() {
            return Err(LabError::Interrupted);
        }
        let first = observer.is_some();
        let switches = variant.switches();
        let ruling = Ruling::new(variant.rule.as_ref());
        let memory =
            Memory::<ReplayPlatform>::with_policy(&self.machine.config(switches), metadata, watch, &ruling)?;
        memory.set_tunables(self.machine.tunables);
        self.start.populate(&self.machine, &memory)?;
        memory.zones().iter().for_each(freehold::Zone::reset_stats);
        let events = self.trace.events;
        let span = (events.first().map_or(0, |e| e.time_ns), events.last().map_or(0, |e| e.time_ns));
        let daemons = self.daemons(span.0, options);
        let holders = Holders::at_start(&memory, &self.machine, &self.start, self.moves);
        let mut follower = Follower::new(holders, daemons, events, self.start.moment_ns());
        follower.set_untraced(&self.untraced);
        if options.detail == SampleDetail::Places {
            watch.keep_found();
        }
        let sampler = observer.map(|observer| (Sampler::new(options.detail, span.0, span.1), observer));
        let (sampler, elapsed_ns) = self.follow(&mut follower, watch, sampler);
        if self.control.is_interrupted() {
            return Err(LabError::Interrupted);
        }
        let (followed, agreement) = follower.finish();
        let requests = memory.request_stats();
        let holds = watch.timer.log();
        let (metadata_bytes, per_page) = self.machine.metadata_bytes::<ReplayPlatform>(switches);
        let mut measures = Measures {
            variant: variant.to_string(),
            followed,
            agreement,
            locked: memory.zone_stats(),
            events: memory.vm_events(),
            type_mismatches: requests.type_mismatches,
            slow_paths: requests.slow_paths.saturating_sub(followed.attempts_again),
            kswapd_wakes: requests.kswapd_wakes,
            holds_touched: watch.touched(),
            highest_high: ending::highest_high(&memory),
            percpu_pages_at_end: ending::percpu_pages(&memory),
            free_pageblocks_at_end: ending::free_pageblocks(&self.machine, &memory),
            free_at_end: ending::free_blocks(&self.machine, &memory),
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
        variant.refuse(memory.refused_choices())?;
        memory.check().map_err(|source| LabError::Broken { variant: variant.to_string(), source })?;
        let pagetypeinfo =
            if first { ending::pagetypeinfo(self.trace.start, &memory) } else { String::new() };
        Ok(Replay { measures, pagetypeinfo })
    }

    /// Replays the trace in the era nearest to the recorded kernel. Returns the allocations that the machine must
    /// have made without an event.
    pub(super) fn find_untraced(&self, variant: &Variant) -> Result<Vec<UntracedAlloc>, LabError> {
        let switches = variant.switches();
        let mut metadata = self.machine.metadata::<ReplayPlatform>(switches);
        let watch = Watch::default();
        let config = self.machine.config(switches);
        let memory = Memory::<ReplayPlatform>::with_policy(&config, &mut metadata, &watch, &Ruling::NONE)?;
        memory.set_tunables(self.machine.tunables);
        self.start.populate(&self.machine, &memory)?;
        let events = self.trace.events;
        let start_ns = events.first().map_or(0, |event| event.time_ns);
        let daemons = self.daemons(start_ns, Options::default());
        let holders = Holders::at_start(&memory, &self.machine, &self.start, self.moves);
        let mut follower = Follower::new(holders, daemons, events, self.start.moment_ns());
        follower.search(Search::new(&self.machine, &self.start, events));
        self.control.plan(events.len() as u64);
        events.for_each_while(|events| self.control.goes_on(events), |event| follower.event(&event));
        if self.control.is_interrupted() { Err(LabError::Interrupted) } else { Ok(follower.found()) }
    }

    /// Replays all events. Returns the sampler, and the time of the replay without sampling.
    ///
    /// Units: nanoseconds.
    fn follow(
        &self,
        follower: &mut Follower<'_, '_>,
        watch: &Watch,
        mut sampler: Option<(Sampler, Observer<'_>)>,
    ) -> (Option<Sampler>, u64) {
        let first_run = sampler.is_some();
        let look =
            |(sampler, observer): &mut (Sampler, Observer<'_>), follower: &Follower<'_, '_>, now_ns, last| {
                sampler.take(follower.memory(), watch, now_ns, last);
                if let Some(sample) = sampler.last() {
                    observer(Moment { events: follower.seen, sample });
                }
            };
        let events = self.trace.events;
        let start_ns = events.first().map_or(0, |event| event.time_ns);
        if let Some(sampler) = &mut sampler {
            look(sampler, follower, start_ns, false);
        }
        // At least one event is between two samples.
        let due = |sampler: &Option<(Sampler, Observer<'_>)>, now_ns: u64| {
            sampler.as_ref().map_or(u64::MAX, |(sampler, _)| sampler.next_ns().max(now_ns.saturating_add(1)))
        };
        let mut due_ns = due(&sampler, start_ns);
        let mut elapsed_ns = 0;
        let stopwatch = watch.timer.stopwatch();
        watch.begin(first_run);
        let mut started_ns = stopwatch.ns();
        let goes_on = |events: usize| self.control.goes_on(events);
        events.for_each_while(goes_on, |event| {
            if event.time_ns >= due_ns
                && let Some(taker) = &mut sampler
            {
                elapsed_ns += stopwatch.ns() - started_ns;
                watch.timer.pause();
                look(taker, follower, event.time_ns, false);
                watch.timer.resume();
                due_ns = due(&sampler, event.time_ns);
                started_ns = stopwatch.ns();
            }
            watch.set_now(event.time_ns);
            follower.event(&event);
        });
        elapsed_ns += stopwatch.ns() - started_ns;
        watch.timer.pause();
        if let Some((sampler, last)) = sampler.as_mut().zip(events.last()) {
            look(sampler, follower, last.time_ns, true);
        }
        (sampler.map(|(sampler, _)| sampler), elapsed_ns)
    }

    /// Replays several variants, [`Options::threads`] of them at the same time. Returns the replays in the order of the
    /// variants.
    ///
    /// # Errors
    /// As [`Lab::replay`]: the first error in the order of the variants.
    pub fn replay_all(&self, variants: &[Variant], options: Options) -> Result<Vec<Replay>, LabError> {
        let replay = |number: usize| self.replay(&variants[number], options);
        let replays = in_parallel(variants.len(), options.threads, replay).into_iter();
        replays.map(|replay| replay.unwrap_or(Err(LabError::Stopped))).collect()
    }
}
