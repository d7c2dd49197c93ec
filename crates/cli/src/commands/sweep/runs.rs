//! Runs a sweep, several replays at a time.

use std::io::Write as _;
use std::path::Path;
use std::sync::Mutex;

use anyhow::{Context, anyhow};
use freehold_lab::sweep::{Grid, Prepared, RunOptions, SweepRow, run_trace, summary, to_csv, to_parquet};
use freehold_measure::grouped;
use indicatif::{ProgressBar, ProgressStyle};

use super::journal::{Journal, SweepArguments, TraceFile};
use crate::args::{Input, Sweep};
use crate::exit::{Cause, Failure};
use crate::load;
use crate::output::{self, FinishedFile};

pub(crate) fn run(args: &Sweep) -> Result<(), Failure> {
    let grid = grid(args)?;
    let arguments = SweepArguments {
        freehold: env!("CARGO_PKG_VERSION").to_owned(),
        partial: args.partial,
        replicates: args.replicates,
        traces: args.traces.iter().map(|path| TraceFile::new(path)).collect(),
        vary: grid.varied.iter().map(|(knob, values)| (knob.name.to_owned(), values.clone())).collect(),
    };
    refuse_unanswerable(args, &grid)?;
    output::refuse_input(&args.output, &args.traces)?;
    refuse_unreadable(args)?;
    // Claimed from the start, so that a long run does not fail at its end.
    let file = FinishedFile::create(&args.output, args.force)?;
    let journal = Journal::open(&args.output, &arguments, args.restart)?;
    let all = args.traces.len() * grid.combinations().unwrap_or(0);
    let done = journal.rows.len();
    if done > 0 {
        output::note(&format!(
            "freehold: {} of {} runs are finished already",
            grouped(done as u64),
            grouped(all as u64)
        ));
    }
    let line = progress_line(all, done);
    let work = Work { args, grid: &grid, line: &line, journal: Mutex::new(Ok(journal)) };
    for number in 0..args.traces.len() {
        work.trace(number);
    }
    line.finish_and_clear();
    let mut journal = work.journal.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)?;
    let mut rows = std::mem::take(&mut journal.rows);
    rows.sort_by_key(|row| row.run);
    let failed = rows.iter().filter(|row| row.error.is_some()).count();
    if failed == rows.len() {
        journal.remove()?;
        return Err(no_result(args, &rows));
    }
    write(file, &args.output, &rows)?;
    journal.remove()?;
    show(args, &rows)?;
    if failed == 0 {
        return Ok(());
    }
    let path = args.output.display();
    let what = anyhow!("{failed} of {all} runs failed; {path} says why in its column error");
    Err(Failure::new(Cause::Partly, what))
}

/// Returns the settings to vary.
fn grid(args: &Sweep) -> Result<Grid, Failure> {
    let varied = args.vary.iter().map(|vary| (vary.knob, vary.values.clone())).collect();
    Grid::new(varied, args.traces.len()).map_err(|error| Failure::new(Cause::Usage, error))
}

/// Refuses a setting for which one of the traces cannot answer. A trace that cannot be read has rows that say so.
fn refuse_unanswerable(args: &Sweep, grid: &Grid) -> Result<(), Failure> {
    if !grid.depends_on_trace() {
        return Ok(());
    }
    for trace in &args.traces {
        let Ok(loaded) = load::whole(&Input { trace: trace.clone(), partial: args.partial }) else {
            continue;
        };
        if let Some(why) = loaded.lab().ok().and_then(|lab| grid.unanswerable(&lab)) {
            return Err(Failure::new(Cause::Usage, anyhow!("{}: {why}", loaded.name)));
        }
    }
    Ok(())
}

/// Fails if none of the traces can be opened: the path may be mistyped.
fn refuse_unreadable(args: &Sweep) -> Result<(), Failure> {
    let mut opened = args.traces.iter().map(|trace| {
        let input = Input { trace: trace.clone(), partial: args.partial };
        load::open(&input).map(drop)
    });
    match opened.next() {
        Some(Err(failure)) if !opened.any(|opened| opened.is_ok()) => Err(failure),
        _ => Ok(()),
    }
}

/// Returns the failure of all runs. There is nothing then that an older file should be replaced by.
fn no_result(args: &Sweep, rows: &[SweepRow]) -> Failure {
    let first = rows.iter().find_map(|row| row.error.as_deref()).unwrap_or_default();
    let (all, path) = (rows.len(), args.output.display());
    Failure::new(
        Cause::Data,
        anyhow!("none of {all} runs succeeded, and {path} is not written; the first: {first}"),
    )
}

fn progress_line(all: usize, done: usize) -> ProgressBar {
    let line = ProgressBar::new(all as u64).with_position(done as u64);
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos} of {len} runs, {eta} left") {
        line.set_style(style);
    }
    line.reset_eta();
    line.tick();
    line
}

/// A sweep in progress. The first run that cannot be journaled ends it.
struct Work<'w> {
    args: &'w Sweep,
    grid: &'w Grid,
    line: &'w ProgressBar,
    journal: Mutex<Result<Journal, Failure>>,
}

impl Work<'_> {
    /// Reads one trace and does its missing runs.
    fn trace(&self, number: usize) {
        let missing = self.missing(self.grid.runs_of(number));
        if missing.is_empty() {
            return;
        }
        let input = Input { trace: self.args.traces[number].clone(), partial: self.args.partial };
        let name = input.name();
        let loaded = load::whole(&input);
        let lab = loaded.as_ref().map_err(ToString::to_string).and_then(|loaded| {
            let lab = load::lab(loaded).map_err(|failure| failure.to_string())?;
            let trust = lab.trust_columns().map_err(|error| load::failure(&name, error).to_string())?;
            Ok((lab, trust))
        });
        let prepared = match &lab {
            Ok((lab, trust)) => Ok(Prepared { lab, trust }),
            Err(why) => Err(why.clone()),
        };
        let options =
            RunOptions { replicates: self.args.replicates, threads: self.args.threads.map(usize::from) };
        run_trace(self.grid, &name, prepared, &missing, options, &|row| self.keep(row));
    }

    /// Returns those of `runs` that the journal lacks; none once the journal has failed.
    fn missing(&self, mut runs: std::ops::Range<usize>) -> Vec<usize> {
        let Ok(guard) = self.journal.lock() else { return Vec::new() };
        let Ok(journal) = guard.as_ref() else { return Vec::new() };
        let mut done: Vec<_> = journal.rows.iter().map(|row| row.run).collect();
        done.sort_unstable();
        let missing = runs.by_ref().filter(|run| done.binary_search(run).is_err());
        missing.collect()
    }

    /// Journals a finished run. Returns false if the sweep must end.
    fn keep(&self, row: SweepRow) -> bool {
        let Ok(mut guard) = self.journal.lock() else { return false };
        let Ok(journal) = guard.as_mut() else { return false };
        let kept = journal.append(row);
        self.line.inc(1);
        if let Err(failure) = kept {
            *guard = Err(failure);
            return false;
        }
        true
    }
}

/// Writes the results. The file appears in its place once it is on the device.
fn write(mut file: FinishedFile, path: &Path, rows: &[SweepRow]) -> Result<(), Failure> {
    let bytes = to_parquet(rows).map_err(|error| Failure::new(Cause::Bug, error))?;
    file.write_all(&bytes)
        .with_context(|| {
            let journal = "the finished runs are kept: make room and start the same sweep again";
            format!("{} cannot be written; {journal}", path.display())
        })
        .map_err(|error| Failure::new(Cause::Output, error))?;
    file.keep()
}

fn show(args: &Sweep, rows: &[SweepRow]) -> Result<(), Failure> {
    if args.form.json {
        return output::print_json(&rows);
    }
    if args.form.csv {
        return output::print(&to_csv(rows));
    }
    let failed = rows.iter().filter_map(|row| {
        let error = row.error.as_ref()?;
        Some(format!("failed: {} {}: {error}", row.trace, row.settings_text()))
    });
    let end = format!("\n{}: {} runs", args.output.display(), grouped(rows.len() as u64));
    let lines: Vec<_> = [summary(rows).to_text()].into_iter().chain(failed).chain([end]).collect();
    output::print(&lines.join("\n"))
}
