//! One recording: the measures of the machine, and of replays without and with a change.

use freehold::Era;

use super::change::SettingChange;
use super::own::Own;
use super::requests::RequestCounts;
use super::subjects::{self, PAGEBLOCKS};
use crate::error::LabError;
use crate::recorded::MoveCost;
use crate::replay::{EVENTS_PER_WAKE_UP, Lab, Options, SampleDetail, Variant, in_parallel};
use crate::start::RecordedMachine;
use crate::sweep::Settings;
use crate::trace::Trace;

/// The options of the replays of a recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PredictOptions {
    /// The number of replicates without and with the change (replays with jittered daemon wake-ups); at most
    /// [`MOST_SHIFTS`](crate::MOST_SHIFTS).
    pub replays: u32,
    /// The number of replays that run at the same time; `None` for one on each processor.
    pub threads: Option<usize>,
}

impl Default for PredictOptions {
    fn default() -> Self {
        Self { replays: 4, threads: None }
    }
}

/// A recording before the change: the base of a prediction.
#[derive(Clone, Debug)]
pub struct BaselineRecording {
    /// The cost of moving a page on the recorded machine.
    pub(super) moves: MoveCost,
    /// The requests of the recording.
    pub(super) request_counts: RequestCounts,
    /// The value of each measure on the machine.
    pub(super) own: Vec<Option<f64>>,
    /// The value of each measure at the start, for measures that do not begin with the recording.
    pub(super) at_start: Vec<Option<f64>>,
    /// The value of each measure in each replay without the change.
    pub(super) baseline: Vec<Vec<Option<f64>>>,
    /// The value of each measure in each replay with the change, with the same jitter.
    pub(super) changed: Vec<Vec<Option<f64>>>,
}

/// A recording under the change: an observation.
#[derive(Clone, Debug)]
pub struct ChangedRecording {
    /// The requests of the recording.
    pub(super) request_counts: RequestCounts,
    /// The value of each measure on the machine.
    pub(super) own: Vec<Option<f64>>,
    /// The value of each measure at the start, for measures that do not begin with the recording.
    pub(super) at_start: Vec<Option<f64>>,
    /// The value of each measure in each replay in the era before the change; empty without replays.
    pub(super) before_change: Vec<Vec<Option<f64>>>,
}

impl ChangedRecording {
    /// Reads the measures of the machine.
    ///
    /// # Errors
    /// The start snapshot describes no machine.
    pub fn new(trace: Trace<'_>) -> Result<Self, LabError> {
        let own = Own::new(&RecordedMachine::new(trace.start, trace.events)?, trace);
        let at_start = subjects::at_start(&own);
        Ok(Self {
            own: subjects::of_machine(&own),
            request_counts: own.request_counts,
            at_start,
            before_change: Vec::new(),
        })
    }

    /// Reads the measures of the machine, and replays the recording several times in the era before the change.
    /// Differences between these replays and the replays of other recordings come from the requests or the start
    /// state, not from the allocator.
    ///
    /// # Errors
    /// As [`Lab::replay`].
    pub fn with_replays(lab: &Lab<'_>, before: Era, options: PredictOptions) -> Result<Self, LabError> {
        let replayed = replays(&[(lab, &before.into())], options)?;
        Ok(Self { before_change: replayed.into_iter().flatten().collect(), ..Self::new(lab.trace)? })
    }

    /// Returns the number of requested pages.
    pub fn requested_pages(&self) -> u64 {
        self.request_counts.pages()
    }
}

impl Lab<'_> {
    /// Replays the trace several times in the era nearest to the recorded kernel, and as often with the change.
    ///
    /// # Errors
    /// As [`Lab::replay`].
    pub fn observe(
        &self,
        change: &SettingChange,
        options: PredictOptions,
    ) -> Result<BaselineRecording, LabError> {
        let baseline = Settings::new(self, &[]);
        let changed = Settings::new(self, change.turned());
        let changed_lab = self.on(changed.machine);
        let sides = [(self, &baseline.variant), (&changed_lab, &changed.variant)];
        let mut replayed = replays(&sides, options)?.into_iter();
        let baseline = replayed.next().unwrap_or_default();
        let mut changed = replayed.next().unwrap_or_default();
        if changed_lab.machine.pageblock_order != self.machine.pageblock_order {
            leave_out_pageblocks(&mut changed);
        }
        let own = Own::new(&self.machine, self.trace);
        let at_start = subjects::at_start(&own);
        let moves = self.moves();
        Ok(BaselineRecording {
            moves,
            own: subjects::of_machine(&own),
            request_counts: own.request_counts,
            at_start,
            baseline,
            changed,
        })
    }
}

/// Replays each side several times. Returns for each side the value of every measure in each replay.
fn replays(
    sides: &[(&Lab<'_>, &Variant)],
    options: PredictOptions,
) -> Result<Vec<Vec<Vec<Option<f64>>>>, LabError> {
    let count = options.replays.clamp(1, EVENTS_PER_WAKE_UP);
    let replay = |job: usize| {
        let (lab, variant) = sides[job % sides.len()];
        let shift = (job / sides.len()) as u32 * EVENTS_PER_WAKE_UP / count;
        let once =
            Options { runs: 1, threads: Some(1), shift, detail: SampleDetail::Totals, ..Options::default() };
        let replay = lab.replay(variant, once)?;
        Ok::<_, LabError>(subjects::of_replay(&replay.measures, lab.machine.pageblock_order))
    };
    let mut values = vec![Vec::new(); sides.len()];
    let jobs = sides.len() * count as usize;
    for (lab, _) in sides {
        lab.plan(u64::from(count));
    }
    for (job, replayed) in in_parallel(jobs, options.threads, replay).into_iter().enumerate() {
        values[job % sides.len()].push(replayed.unwrap_or(Err(LabError::Stopped))?);
    }
    Ok(values)
}

/// Removes measures in pageblocks, if the replayed pageblocks have another size than those of the machine.
fn leave_out_pageblocks(replays: &mut [Vec<Option<f64>>]) {
    for (number, (_, unit)) in subjects::names().iter().enumerate() {
        if *unit == PAGEBLOCKS {
            for values in replays.iter_mut() {
                values[number] = None;
            }
        }
    }
}
