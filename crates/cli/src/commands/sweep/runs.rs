//! Runs a sweep, several replays at a time.

use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context, anyhow};
use freehold_lab::Lab;
use freehold_lab::sweep::{Grid, SweepRow, summary, to_csv, to_parquet};
use freehold_measure::grouped;
use indicatif::{ProgressBar, ProgressStyle};

use super::journal::{Asked, Journal, TraceFile};
use crate::args::{Input, Sweep};
use crate::exit::{Cause, Failure};
use crate::load;
use crate::output::{self, FinishedFile};

/// The most runs of a sweep.
const MOST_RUNS: usize = 1_000_000;

pub(crate) fn run(args: &Sweep) -> Result<(), Failure> {
    let grid = grid(args)?;
    let asked = Asked {
        freehold: env!("CARGO_PKG_VERSION").to_owned(),
        partial: args.partial,
        chance: args.chance,
        traces: args.traces.iter().map(|path| TraceFile::new(path)).collect(),
        vary: grid.varied.iter().map(|(knob, values)| (knob.name.to_owned(), values.clone())).collect(),
    };
    refuse_unanswerable(args, &grid)?;
    output::refuse_input(&args.output, &args.traces)?;
    refuse_unreadable(args)?;
    // Claimed from the start, so that a long run does not fail at its end.
    let file = FinishedFile::create(&args.output, args.force)?;
    let journal = Journal::open(&args.output, &asked, args.restart)?;
    let all = args.traces.len() * grid.combinations().unwrap_or(0);
    let done = journal.rows.len();
    if done > 0 {
        output::note(&format!(
            "freehold: {} of {} runs were done already",
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

/// Returns the settings to vary. Fails if a knob is given twice or there are more than `MOST_RUNS` runs.
fn grid(args: &Sweep) -> Result<Grid, Failure> {
    let mut grid = Grid { varied: Vec::new() };
    for vary in &args.vary {
        if grid.varied.iter().any(|(knob, _)| knob.name == vary.knob.name) {
            let what = anyhow!("--vary {} is given twice; name all its values at once", vary.knob.name);
            return Err(Failure::new(Cause::Input, what));
        }
        grid.varied.push((vary.knob, vary.values.clone()));
    }
    let runs = grid.combinations().and_then(|runs| runs.checked_mul(args.traces.len()));
    if runs.is_none_or(|runs| runs > MOST_RUNS) {
        let what = anyhow!("more than {} runs; vary less at once", grouped(MOST_RUNS as u64));
        return Err(Failure::new(Cause::Input, what));
    }
    Ok(grid)
}

/// Refuses a setting for which one of the traces cannot answer. A trace that cannot be read has rows that say so.
fn refuse_unanswerable(args: &Sweep, grid: &Grid) -> Result<(), Failure> {
    for (knob, _) in grid.varied.iter().filter(|(knob, _)| knob.depends_on_trace()) {
        for trace in &args.traces {
            let Ok(loaded) = load::whole(&Input { trace: trace.clone(), partial: args.partial }) else {
                continue;
            };
            let Ok(lab) = loaded.lab() else { continue };
            if let Some(why) = lab.cannot_vary(knob) {
                return Err(Failure::new(Cause::Input, anyhow!("{}: {why}", loaded.name)));
            }
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
        Cause::Input,
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
        let combinations = self.grid.combinations().unwrap_or(0);
        let missing = self.missing(number * combinations..(number + 1) * combinations);
        if missing.is_empty() {
            return;
        }
        let input = Input { trace: self.args.traces[number].clone(), partial: self.args.partial };
        let name = input.trace.display().to_string();
        let row = |run: usize| SweepRow {
            run,
            trace: name.clone(),
            settings: self.settings(run % combinations),
            error: None,
            measures: Vec::new(),
        };
        let loaded = match load::whole(&input) {
            Ok(loaded) => loaded,
            Err(failure) => return self.keep_failed(missing.iter().map(|&run| row(run)), &failure),
        };
        let lab = match loaded.lab() {
            Ok(lab) => lab,
            Err(failure) => return self.keep_failed(missing.iter().map(|&run| row(run)), &failure),
        };
        let trust = match lab.trust_columns() {
            Ok(columns) => columns,
            Err(error) => {
                let failure = loaded.failure(error);
                return self.keep_failed(missing.iter().map(|&run| row(run)), &failure);
            }
        };
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some(&run) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
                let mut row = self.replay(&lab, row(run), run % combinations);
                if row.error.is_none() {
                    row.measures.extend(trust.iter().cloned());
                }
                if !self.keep(row) {
                    break;
                }
            }
        };
        thread::scope(|scope| {
            for _ in 1..self.threads().min(missing.len()) {
                // Where there is no room for another thread, fewer do the same.
                let _ = thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
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

    fn settings(&self, combination: usize) -> Vec<(String, freehold_lab::sweep::Value)> {
        let settings = self.grid.combination(combination).into_iter();
        settings.map(|(knob, value)| (knob.name.to_owned(), value)).collect()
    }

    fn threads(&self) -> usize {
        let processors = || thread::available_parallelism().map_or(1, std::num::NonZero::get);
        self.args.threads.map_or_else(processors, usize::from)
    }

    /// Does one run. An error is written into the row and does not end the sweep.
    fn replay(&self, lab: &Lab<'_>, mut row: SweepRow, combination: usize) -> SweepRow {
        let settings = self.grid.combination(combination);
        match catch_unwind(AssertUnwindSafe(|| lab.measure(&settings, self.args.chance))) {
            Ok(Ok(measures)) => row.measures = measures,
            Ok(Err(error)) => row.error = Some(Failure::from(error).to_string()),
            Err(_) => row.error = Some("a bug in Freehold: the replay panicked".to_owned()),
        }
        row
    }

    fn keep_failed(&self, rows: impl Iterator<Item = SweepRow>, failure: &Failure) {
        for mut row in rows {
            row.error = Some(failure.to_string());
            if !self.keep(row) {
                break;
            }
        }
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
