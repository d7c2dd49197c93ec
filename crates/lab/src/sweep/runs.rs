//! The runs of one trace, several at the same time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use freehold_measure::Cell;

use super::grid::Grid;
use super::row::SweepRow;
use crate::error::sentence;
use crate::replay::Lab;

/// The options of the runs of a sweep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RunOptions {
    /// The number of replicates of each run (replays with jittered daemon wake-ups).
    pub replicates: u32,
    /// The number of runs at the same time; `None` for one on each processor.
    pub threads: Option<usize>,
}

/// The data that all runs of a trace share.
#[derive(Clone, Copy, Debug)]
pub struct Prepared<'l, 't> {
    /// The lab of the trace.
    pub lab: &'l Lab<'t>,
    /// The result of [`Lab::trust_columns`].
    pub trust: &'l [(String, Cell)],
}

/// Does some runs of a trace. `prepared` is the data that they share, or the reason why there is none. Passes each
/// finished run to `keep`. Starts no further run after `keep` returned false, or after an interruption by the lab's
/// control. An error of a run is written into its row and does not end other runs.
pub fn run_trace(
    grid: &Grid,
    trace: &str,
    prepared: Result<Prepared<'_, '_>, String>,
    runs: &[usize],
    options: RunOptions,
    keep: &(dyn Fn(SweepRow) -> bool + Sync),
) {
    let Prepared { lab, trust } = match prepared {
        Ok(prepared) => prepared,
        Err(why) => {
            let failed = |&run: &usize| SweepRow { error: Some(why.clone()), ..grid.row(run, trace) };
            let _ = runs.iter().map(failed).all(keep);
            return;
        }
    };
    lab.plan(runs.len() as u64 * u64::from(options.replicates.max(1)));
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(&run) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut row = replayed(grid, lab, run, grid.row(run, trace), options.replicates);
            if row.error.is_none() {
                row.measures.extend(trust.iter().cloned());
            }
            if lab.control.is_interrupted() || !keep(row) {
                break;
            }
        }
    };
    let processors = || thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = options.threads.unwrap_or_else(processors);
    thread::scope(|scope| {
        for _ in 1..threads.min(runs.len()) {
            // If a thread cannot be started, fewer threads do the work.
            let _ = thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
}

/// Does one run.
fn replayed(grid: &Grid, lab: &Lab<'_>, run: usize, mut row: SweepRow, replicates: u32) -> SweepRow {
    let settings = grid.settings_of(run);
    match catch_unwind(AssertUnwindSafe(|| lab.measure(&settings, replicates))) {
        Ok(Ok(measures)) => row.measures = measures,
        Ok(Err(error)) => row.error = Some(sentence(&error)),
        Err(_) => row.error = Some("a bug in Freehold: the replay panicked".to_owned()),
    }
    row
}
