//! Makes a comparison: which replays there are, and what is made of them.

use std::thread;

use freehold::Era;
use freehold_measure::Table;

use super::attributed::Attributed;
use super::chance::{Chance, shifts};
use super::comparison::{CompareOptions, Comparison};
use super::distance::EndDistance;
use super::rival::{self, Rival};
use super::steps::EraStep;
use super::subjects::{OfMachine, Values, values};
use super::tables::Shown;
use super::trust::Trust;
use crate::error::LabError;
use crate::replay::{Lab, Looks, Measures, Options, Replay, Variant, in_parallel, nearest_era};
use crate::start::free_pageblocks;

/// One replay of a comparison.
struct Job {
    variant: Variant,
    options: Options,
    /// True if all measures are kept, not only the values by which replays are compared.
    whole: bool,
}

/// What became of a job.
struct Outcome {
    values: Values,
    measures: Option<Measures>,
}

/// Returns the replays of all eras, then those of their parts, then those that tell what is chance, round by round, and
/// those of the rival.
fn jobs(options: CompareOptions, steps: &[EraStep]) -> Vec<Job> {
    let whole = |variant, options| Job { variant, options, whole: true };
    let eras = Era::COMPARED.map(Variant::new);
    let once = Options { runs: 1, ..options.replay };
    let mut jobs: Vec<_> = eras.iter().map(|variant| whole(variant.clone(), options.replay)).collect();
    for step in steps {
        jobs.push(whole(step.alone().with, once));
        jobs.extend(step.taken_out().map(|pair| whole(pair.without, once)));
    }
    for shift in shifts(options.chance).skip(1) {
        let options = Options { shift, looks: Looks::Totals, ..once };
        jobs.extend(eras.iter().map(|variant| Job { variant: variant.clone(), options, whole: false }));
    }
    for shift in shifts(options.chance) {
        let options = Rival::options(Options { shift, looks: Looks::Totals, ..once });
        jobs.push(Job { variant: Variant::new(rival::ERA), options, whole: false });
    }
    jobs
}

/// Gives each part its measures, in the order of [`jobs`].
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
    /// Replays the trace through every era and, if asked, with each part of an era alone.
    ///
    /// # Errors
    /// As [`Lab::replay`].
    pub fn compare(&self, options: CompareOptions) -> Result<Comparison, LabError> {
        let steps = if options.attribution { EraStep::all() } else { Vec::new() };
        let jobs = jobs(options, &steps);
        let (outcomes, hindsight, recorded) = thread::scope(|scope| {
            let besides = scope.spawn(|| (self.hindsight(), self.recorded()));
            let outcomes = self.outcomes(&jobs, options.replay.threads)?;
            let (hindsight, recorded) = besides.join().map_err(|_| LabError::Stopped)?;
            Ok::<_, LabError>((outcomes, hindsight, recorded))
        })?;
        let mut outcomes = outcomes.into_iter();
        let mut series = vec![Vec::new(); Era::COMPARED.len()];
        let mut eras = Vec::new();
        for (values, outcome) in series.iter_mut().zip(outcomes.by_ref()) {
            values.push(outcome.values);
            eras.extend(outcome.measures);
        }
        let parts = jobs.iter().filter(|job| job.whole).count() - eras.len();
        let attributed = attributed(steps, outcomes.by_ref().take(parts).filter_map(|one| one.measures));
        let rounds = shifts(options.chance).count();
        for (number, outcome) in outcomes.by_ref().take((rounds - 1) * Era::COMPARED.len()).enumerate() {
            series[number % Era::COMPARED.len()].push(outcome.values);
        }
        let rival = Rival { moves: self.moves(), replays: outcomes.map(|outcome| outcome.values).collect() };
        let distance = self.end_distance(&eras);
        let free_pageblocks = self.end().map(|end| free_pageblocks(&self.machine, end));
        Ok(Comparison {
            machine: self.machine.clone(),
            end: self.end().cloned(),
            start: self.start.report.clone(),
            gaps: self.gaps(),
            trust: Trust::new(self, &eras, &recorded, distance.as_ref()),
            chance: Chance::new(series, &OfMachine { recorded: &recorded, free_pageblocks }),
            times: options.times,
            eras,
            attributed,
            recorded,
            hindsight,
            rival,
            distance,
        })
    }

    fn outcomes(&self, jobs: &[Job], threads: Option<usize>) -> Result<Vec<Outcome>, LabError> {
        let order = self.machine.pageblock_order;
        let run = |number: usize| {
            let Job { variant, options, whole } = &jobs[number];
            let measures = self.replay(variant, *options)?.measures;
            // All measures of all replays would take much memory: samples and maps.
            Ok(Outcome { values: values(&measures, order), measures: whole.then_some(measures) })
        };
        let outcomes = in_parallel(jobs.len(), threads, run).into_iter();
        outcomes.map(|outcome| outcome.unwrap_or(Err(LabError::Stopped))).collect()
    }

    /// Returns every table of one replay, the most important first; the machine has a column too.
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

    /// Returns the distance of the nearest era's end from the machine's; `None` if the kernel or the end is not
    /// known.
    fn end_distance(&self, eras: &[Measures]) -> Option<EndDistance> {
        let era = nearest_era(&self.trace.origin.kernel_release)?;
        let at = Era::COMPARED.into_iter().position(|other| other == era)?;
        EndDistance::new(&self.machine, &era.into(), &eras[at], self.end()?)
    }
}
