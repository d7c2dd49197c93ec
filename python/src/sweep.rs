//! Sweeps: all runs at once, or some runs of a trace as a shard.
#![expect(clippy::needless_pass_by_value, reason = "objects come from Python by value")]

use std::sync::{Arc, Mutex};

use freehold_lab::Control;
use freehold_lab::sweep::{
    Grid, Prepared, RunOptions, SweepRow, columns, rows_of_shard, run_trace, shard, summary,
};
use freehold_measure::grouped;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::error::{BugError, Failure, InputError};
use super::lab::{json, lab_of, replays};
use super::outcome::Outcome;
use super::settings;
use super::trace::Trace;
use super::waiting::wait;

/// Replays traces with every combination of some settings.
#[pyfunction]
#[pyo3(signature = (traces, replicates, threads, progress, settings))]
pub(super) fn sweep(
    py: Python<'_>,
    traces: Vec<Bound<'_, Trace>>,
    replicates: u32,
    threads: Option<usize>,
    progress: Option<Bound<'_, PyAny>>,
    settings: &Bound<'_, PyDict>,
) -> PyResult<Outcome> {
    let grid = grid_of(settings, traces.len())?;
    let options = RunOptions { replicates: replays(replicates)?, threads };
    let control = Arc::new(Control::default());
    let traces: Vec<_> = traces.into_iter().map(Bound::unbind).collect();
    let rows = wait(py, &control, progress.as_ref(), || {
        let rows = Mutex::new(Vec::new());
        for (number, trace) in traces.iter().enumerate() {
            let runs: Vec<_> = grid.runs_of(number).collect();
            runs_of(&grid, trace.get(), &runs, options, &control, &rows)?;
        }
        Ok(rows.into_inner().unwrap_or_default())
    })?;
    for trace in &traces {
        trace.get().warn(py)?;
    }
    sweep_outcome(rows)
}

/// Does some runs of one trace. Writes an error of the trace into the rows. A setting that cannot be varied on the
/// trace is an error of the arguments.
fn runs_of(
    grid: &Grid,
    trace: &Trace,
    runs: &[usize],
    options: RunOptions,
    control: &Arc<Control>,
    rows: &Mutex<Vec<SweepRow>>,
) -> Result<(), Failure> {
    let name = trace.source.name();
    let loaded = trace.whole();
    let lab = loaded.as_ref().map_err(ToString::to_string).and_then(|loaded| {
        let lab = lab_of(loaded, control).map_err(|failure| failure.to_string())?;
        let trust = trace.trust(&lab).map_err(|failure| failure.to_string())?;
        Ok((lab, trust))
    });
    if let Some(why) = lab.as_ref().ok().and_then(|(lab, _)| grid.unanswerable(lab)) {
        return Err(Failure::Input(format!("{name}: {why}")));
    }
    let prepared = match &lab {
        Ok((lab, trust)) => Ok(Prepared { lab, trust }),
        Err(why) => Err(why.clone()),
    };
    run_trace(grid, &name, prepared, runs, options, &|row| {
        rows.lock().is_ok_and(|mut rows| {
            rows.push(row);
            true
        })
    });
    Ok(())
}

/// Returns the outcome of finished runs.
fn sweep_outcome(mut rows: Vec<SweepRow>) -> PyResult<Outcome> {
    rows.sort_by_key(|row| row.run);
    if let Some(first) = rows.first().and_then(|row| row.error.as_ref())
        && rows.iter().all(|row| row.error.is_some())
    {
        let all = rows.len();
        return Err(InputError::new_err(format!("none of {all} runs succeeded; the first: {first}")));
    }
    let failed = rows.iter().filter_map(|row| {
        let error = row.error.as_ref()?;
        Some(format!("failed: {} {}: {error}", row.trace, row.settings_text()))
    });
    let shown = if rows.is_empty() { String::new() } else { summary(&rows).to_text() };
    let end = format!("{} runs", grouped(rows.len() as u64));
    let text: Vec<_> = [shown].into_iter().chain(failed).chain([end]).collect();
    Ok(Outcome::new(columns(&rows), text.join("\n"))?.with_data(json(&rows)?))
}

fn grid_of(settings: &Bound<'_, PyDict>, traces: usize) -> PyResult<Grid> {
    Grid::new(settings::varied(settings)?, traces).map_err(|error| InputError::new_err(error.to_string()))
}

fn as_text(rows: &[SweepRow]) -> PyResult<Vec<String>> {
    let texts = rows.iter().map(serde_json::to_string).collect::<Result<_, _>>();
    texts.map_err(|error| BugError::new_err(error.to_string()))
}

fn of_text(rows: &[String]) -> PyResult<Vec<SweepRow>> {
    let rows = rows.iter().map(|row| serde_json::from_str(row)).collect::<Result<_, _>>();
    rows.map_err(|error| BugError::new_err(error.to_string()))
}

/// The number of runs for each trace.
#[pyfunction]
pub(super) fn runs_of_a_trace(traces: usize, settings: &Bound<'_, PyDict>) -> PyResult<usize> {
    Ok(grid_of(settings, traces)?.combinations().unwrap_or(0))
}

/// Does some runs of a trace and returns their rows as JSON.
#[pyfunction]
#[pyo3(signature = (trace, runs, replicates, threads, progress, settings))]
pub(super) fn sweep_shard(
    py: Python<'_>,
    trace: &Bound<'_, Trace>,
    runs: Vec<usize>,
    replicates: u32,
    threads: Option<usize>,
    progress: Option<Bound<'_, PyAny>>,
    settings: &Bound<'_, PyDict>,
) -> PyResult<Vec<String>> {
    let grid = grid_of(settings, 1)?;
    let options = RunOptions { replicates: replays(replicates)?, threads };
    let control = Arc::new(Control::default());
    let trace = trace.get();
    let rows = wait(py, &control, progress.as_ref(), || {
        let rows = Mutex::new(Vec::new());
        match runs_of(&grid, trace, &runs, options, &control, &rows) {
            Ok(()) => Ok(rows.into_inner().unwrap_or_default()),
            Err(failure) => Ok(failed(&grid, &trace.source.name(), &runs, &failure.to_string())),
        }
    })?;
    trace.warn(py)?;
    as_text(&rows)
}

fn failed(grid: &Grid, trace: &str, runs: &[usize], why: &str) -> Vec<SweepRow> {
    runs.iter().map(|&run| SweepRow { error: Some(why.to_owned()), ..grid.row(run, trace) }).collect()
}

/// Rows with an error instead of measures, as JSON.
#[pyfunction]
pub(super) fn failed_rows(
    trace: &str,
    runs: Vec<usize>,
    why: &str,
    settings: &Bound<'_, PyDict>,
) -> PyResult<Vec<String>> {
    as_text(&failed(&grid_of(settings, 1)?, trace, &runs, why))
}

/// Rows in JSON as a Parquet file.
#[pyfunction]
pub(super) fn rows_to_parquet(rows: Vec<String>) -> PyResult<Vec<u8>> {
    shard(&of_text(&rows)?).map_err(|error| BugError::new_err(error.to_string()))
}

/// The rows of a file of `rows_to_parquet`; None if it is damaged.
#[pyfunction]
pub(super) fn rows_of_parquet(file: &[u8]) -> PyResult<Option<Vec<String>>> {
    rows_of_shard(file).map(|rows| as_text(&rows)).transpose()
}

/// The result of rows in JSON.
#[pyfunction]
pub(super) fn sweep_result(rows: Vec<String>) -> PyResult<Outcome> {
    sweep_outcome(of_text(&rows)?)
}
