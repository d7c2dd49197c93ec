//! Runs the replays of a comparison and combines their results.

use std::thread;

use freehold::Era;
use freehold_measure::Table;

use super::attributed::Attributed;
use super::comparison::{CompareOptions, Comparison};
use super::distance::EndDistance;
use super::measured::Measured;
use super::proactive_baseline::{self, ProactiveBaseline};
use super::replicates::{Replicates, shifts};
use super::steps::EraStep;
use super::subjects::{OfMachine, Values, values};
use super::tables::Shown;
use super::trust::Trust;
use crate::error::LabError;
use crate::replay::{Lab, Measures, Options, Replay, SampleDetail, Variant, in_parallel, nearest_era};
use crate::start::free_pageblocks;

/// One replay of a comparison.
struct Job {
    variant: Variant,
    options: Options,
    /// True to keep all measures, not only the compared values.
    whole: bool,
}

/// The result of a job.
struct Outcome {
    values: Values,
    measures: Option<Measures>,
}

/// Returns one replay of each variant, then their further replicates, round by round.
fn jobs_of(variants: &[Variant], replay: Options, replicates: u32) -> Vec<Job> {
    let of_each = |options, whole| variants.iter().map(move |variant| (variant.clone(), options, whole));
    let shifted = |shift| Options { shift, runs: 1, detail: SampleDetail::Totals, ..replay };
    let rounds = shifts(replicates).skip(1).flat_map(|shift| of_each(shifted(shift), false));
    let jobs = of_each(replay, true).chain(rounds);
    jobs.map(|(variant, options, whole)| Job { variant, options, whole }).collect()
}

/// Returns the replays of the parts of all eras, then those of the proactive baseline.
fn further_jobs(options: CompareOptions, steps: &[EraStep]) -> Vec<Job> {
    let once = Options { runs: 1, ..options.replay };
    let whole = |variant| Job { variant, options: once, whole: true };
    let mut jobs = Vec::new();
    for step in steps {
        jobs.push(whole(step.alone().with));
        jobs.extend(step.taken_out().map(|pair| whole(pair.without)));
    }
    for shift in shifts(options.replicates) {
        let options = ProactiveBaseline::options(Options { shift, detail: SampleDetail::Totals, ..once });
        jobs.push(Job { variant: Variant::new(proactive_baseline::ERA), options, whole: false });
    }
    jobs
}

/// Returns the measures of each variant, and its values in each replay, from the outcomes of [`jobs_of`].
fn by_variant(variants: usize, outcomes: impl Iterator<Item = Outcome>) -> (Vec<Measures>, Vec<Vec<Values>>) {
    let (mut measures, mut series) = (Vec::new(), vec![Vec::new(); variants]);
    for (number, outcome) in outcomes.enumerate() {
        series[number % variants].push(outcome.values);
        measures.extend(outcome.measures);
    }
    (measures, series)
}

fn names(variants: &[Variant]) -> Vec<String> {
    variants.iter().map(ToString::to_string).collect()
}

/// Combines each part with its measures, which have the order of [`further_jobs`].
fn attributed(steps: Vec<EraStep>, mut measures: impl Iterator<Item = Measures>) -> Vec<Attributed> {
    let part = |step: EraStep| {
        let against = step.alone().without.to_string();
        let alone = measures.next()?;
        let taken_out = if step.taken_out().is_some() { Some(measures.next()?) } else { None };
        Some(Attributed { step, against, alone, taken_out })
    };
    steps.into_iter().filter_map(part).collect()
}

impl Lab<'_> {
    /// Replays the trace in every era and, with [`CompareOptions::attribution`], with each part of an era alone.
    ///
    /// # Errors
    /// As [`Lab::replay`].
    pub fn compare(&self, options: CompareOptions) -> Result<Comparison, LabError> {
        let steps = if options.attribution { EraStep::all() } else { Vec::new() };
        let variants = Era::COMPARED.map(Variant::new);
        let mut jobs = jobs_of(&variants, options.replay, options.replicates);
        let of_eras = jobs.len();
        jobs.extend(further_jobs(options, &steps));
        let (outcomes, hindsight, recorded) = thread::scope(|scope| {
            let besides = scope.spawn(|| (self.hindsight(), self.recorded()));
            let outcomes = self.outcomes(&jobs, options.replay.threads)?;
            let (hindsight, recorded) = besides.join().map_err(|_| LabError::Stopped)?;
            Ok::<_, LabError>((outcomes, hindsight, recorded))
        })?;
        let mut outcomes = outcomes.into_iter();
        let (eras, series) = by_variant(variants.len(), outcomes.by_ref().take(of_eras));
        let parts = jobs[of_eras..].iter().filter(|job| job.whole).count();
        let attributed = attributed(steps, outcomes.by_ref().take(parts).filter_map(|one| one.measures));
        let proactive_baseline = ProactiveBaseline {
            moves: self.moves(),
            replays: outcomes.map(|outcome| outcome.values).collect(),
        };
        let distance = self.end_distance(&eras);
        let free_pageblocks = self.end().map(|end| free_pageblocks(&self.machine, end));
        Ok(Comparison {
            machine: self.machine.clone(),
            end: self.end().cloned(),
            start: self.start.report.clone(),
            gaps: self.gaps(),
            trust: Trust::new(self, &eras, &recorded, distance.as_ref()),
            replicates: Replicates::new(
                names(&variants),
                series,
                &OfMachine { recorded: &recorded, free_pageblocks },
            ),
            times: options.times,
            eras,
            attributed,
            recorded,
            hindsight,
            proactive_baseline,
            distance,
        })
    }

    /// Replays the trace in some variants, `replicates` times each with jittered daemon wake-ups.
    ///
    /// # Errors
    /// As [`Lab::replay`].
    pub fn measured(
        &self,
        variants: &[Variant],
        replay: Options,
        replicates: u32,
    ) -> Result<Measured, LabError> {
        let outcomes = self.outcomes(&jobs_of(variants, replay, replicates), replay.threads)?;
        let (eras, series) = by_variant(variants.len(), outcomes.into_iter());
        let recorded = self.recorded();
        let free_pageblocks = self.end().map(|end| free_pageblocks(&self.machine, end));
        let of_machine = OfMachine { recorded: &recorded, free_pageblocks };
        Ok(Measured {
            machine: self.machine.clone(),
            end: self.end().cloned(),
            replicates: Replicates::new(names(variants), series, &of_machine),
            eras,
            recorded,
        })
    }

    fn outcomes(&self, jobs: &[Job], threads: Option<usize>) -> Result<Vec<Outcome>, LabError> {
        let order = self.machine.pageblock_order;
        let runs: u64 = jobs.iter().map(|job| u64::from(job.options.runs)).sum();
        self.plan(runs);
        let run = |number: usize| {
            let Job { variant, options, whole } = &jobs[number];
            let measures = self.replay(variant, *options)?.measures;
            // All measures of all replays would need too much memory for samples and maps.
            Ok(Outcome { values: values(&measures, order), measures: whole.then_some(measures) })
        };
        let outcomes = in_parallel(jobs.len(), threads, run).into_iter();
        outcomes.map(|outcome| outcome.unwrap_or(Err(LabError::Stopped))).collect()
    }

    /// Returns every table of one replay, the most important first, with a column for the machine.
    pub fn describe(&self, replay: &Replay) -> Vec<Table> {
        let recorded = self.recorded();
        let shown = Shown {
            machine: &self.machine,
            end: self.end(),
            eras: std::slice::from_ref(&replay.measures),
            recorded: &recorded,
            distance: None,
        };
        vec![shown.overview(), shown.free_blocks(), shown.fragmentation()]
    }

    /// Returns the difference at the end between the machine and the nearest era; `None` if the kernel release or the
    /// end of the machine is unknown.
    fn end_distance(&self, eras: &[Measures]) -> Option<EndDistance> {
        let era = nearest_era(&self.trace.origin.kernel_release)?;
        let at = Era::COMPARED.into_iter().position(|other| other == era)?;
        EndDistance::new(&self.machine, &era.into(), &eras[at], self.end()?)
    }
}
