//! The functions of the lab.
#![expect(clippy::needless_pass_by_value, reason = "objects come from Python by value")]

use std::sync::Arc;

use freehold::Era;
use freehold_lab::predict::{
    Facts, PredictError, PredictOptions, Predicting, Recording, SettingChange, predict_change,
};
use freehold_lab::{
    CompareOptions, Control, Lab, LabError, Loaded, MOST_SHIFTS, Options, SampleDetail, Variant, sentence,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::error::{BugError, Failure, InputError};
use super::outcome::Outcome;
use super::rules::{self, Stop};
use super::settings;
use super::trace::Trace;
use super::waiting::wait;

/// Checks a number of replicates.
pub(super) fn replays(replicates: u32) -> PyResult<u32> {
    if (1..=MOST_SHIFTS).contains(&replicates) {
        return Ok(replicates);
    }
    Err(InputError::new_err(format!("replicates is 1 to {MOST_SHIFTS} replays, not {replicates}")))
}

pub(super) fn json(value: &impl serde::Serialize) -> PyResult<serde_json::Value> {
    serde_json::to_value(value).map_err(|error| BugError::new_err(error.to_string()))
}

pub(super) fn lab_of<'t>(loaded: &'t Loaded, control: &Arc<Control>) -> Result<Lab<'t>, Failure> {
    let lab = Lab::controlled(loaded.trace(), Arc::clone(control));
    lab.map_err(|error| Failure::of_lab(&loaded.name, &error))
}

/// Replays a trace in all eras or in the named ones, and in eras with placement rules written in Python.
#[pyfunction]
#[pyo3(signature = (trace, eras, rules, replicates, threads, progress))]
pub(super) fn compare(
    py: Python<'_>,
    trace: &Bound<'_, Trace>,
    eras: Option<Vec<String>>,
    rules: Vec<Bound<'_, PyAny>>,
    replicates: Option<u32>,
    threads: Option<usize>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Outcome> {
    let replicates = replicates.map(replays).transpose()?;
    if eras.is_none() && rules.is_empty() {
        return compare_all(py, trace.get(), replicates, threads, progress.as_ref());
    }
    let mut variants: Vec<_> = match eras {
        Some(eras) => eras.iter().map(|era| settings::variant(era)).collect::<Result<_, Failure>>()?,
        None => Era::COMPARED.map(Variant::new).to_vec(),
    };
    let control = Arc::new(Control::default());
    let stop = Stop::new(&control);
    for rule in &rules {
        variants.push(rules::variant(rule, &stop)?);
    }
    if variants.is_empty() {
        return Err(InputError::new_err("no era is named"));
    }
    let options = Options { runs: 1, threads, ..Options::default() };
    let outcome = measured(py, trace.get(), &control, progress.as_ref(), move |lab| {
        let replicates = replicates.unwrap_or_else(|| lab.replays_by_default());
        lab.measured(&variants, options, replicates)
    });
    stop.exception().map_or(outcome, Err)
}

/// Replays a trace in all eras and summarizes the comparison.
fn compare_all(
    py: Python<'_>,
    trace: &Trace,
    replicates: Option<u32>,
    threads: Option<usize>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Outcome> {
    let control = Arc::new(Control::default());
    let (loaded, comparison, picture) = wait(py, &control, progress, || {
        let loaded = trace.whole()?;
        let lab = lab_of(&loaded, &control)?;
        let mut options = CompareOptions::in_short(replicates.unwrap_or_else(|| lab.replays_by_default()));
        options.replay.threads = threads;
        options.replay.detail = SampleDetail::All;
        let named = |error: LabError| Failure::of_lab(&loaded.name, &error);
        let comparison = lab.compare(options).map_err(named)?;
        let picture = comparison.picture().map_err(named)?;
        Ok((Arc::clone(&loaded), comparison, picture))
    })?;
    trace.warn(py)?;
    let text = comparison.summary().to_screen(loaded.headline());
    let outcome = Outcome::new(comparison.columns(), text)?.with_tables(&comparison.tables())?;
    let pictures = vec![("unusable index".to_owned(), picture)];
    Ok(outcome.with_pictures(pictures).with_data(json(&comparison)?))
}

/// Replays a trace in some variants.
fn measured(
    py: Python<'_>,
    trace: &Trace,
    control: &Arc<Control>,
    progress: Option<&Bound<'_, PyAny>>,
    replay: impl FnOnce(&Lab<'_>) -> Result<freehold_lab::Measured, LabError> + Send,
) -> PyResult<Outcome> {
    let (loaded, measured) = wait(py, control, progress, || {
        let loaded = trace.whole()?;
        let measured = replay(&lab_of(&loaded, control)?);
        let measured = measured.map_err(|error| Failure::of_lab(&loaded.name, &error))?;
        Ok((loaded, measured))
    })?;
    trace.warn(py)?;
    let tables = measured.tables();
    let text = tables.first().map(freehold_measure::Table::to_text).unwrap_or_default();
    let outcome = Outcome::new(measured.columns(), format!("{}\n\n{text}", loaded.headline()))?;
    Ok(outcome.with_tables(&tables)?.with_data(json(&measured.eras)?))
}

/// Replays a trace on the recorded machine with some settings: once, or several times with jittered daemon wake-ups.
#[pyfunction]
#[pyo3(signature = (trace, replicates, threads, progress, settings))]
pub(super) fn replay(
    py: Python<'_>,
    trace: &Bound<'_, Trace>,
    replicates: u32,
    threads: Option<usize>,
    progress: Option<Bound<'_, PyAny>>,
    settings: &Bound<'_, PyDict>,
) -> PyResult<Outcome> {
    let (replicates, turned) = (replays(replicates)?, settings::turned(settings)?);
    let options = Options { runs: 1, threads, ..Options::default() };
    measured(py, trace.get(), &Arc::default(), progress.as_ref(), move |lab| {
        let (lab, variant) = lab.turned(&turned)?;
        lab.measured(&[variant], options, replicates)
    })
}

/// A Python trace as a recording for predictions.
struct Recorded<'t>(&'t Trace);

impl From<PredictError> for Failure {
    fn from(error: PredictError) -> Self {
        Self::Input(sentence(&error))
    }
}

impl Recording for Recorded<'_> {
    type Error = Failure;

    fn facts(&self) -> Result<Facts, Failure> {
        let reader = self.0.source.open()?;
        Ok(Facts::new(self.0.source.name(), reader.origin(), reader.start()))
    }

    fn whole(&self) -> Result<Arc<Loaded>, Failure> {
        self.0.whole()
    }

    fn failed(&self, error: LabError) -> Failure {
        Failure::of_lab(&self.0.source.name(), &error)
    }
}

fn recordings_of(traces: &[Py<Trace>]) -> Vec<Recorded<'_>> {
    traces.iter().map(|trace| Recorded(trace.get())).collect()
}

/// Predicts the effect of a change from recordings.
#[pyfunction]
#[pyo3(signature = (traces, against, replicates, page_move_ns, threads, progress, settings))]
#[expect(clippy::too_many_arguments, reason = "Python gives most of them by name")]
pub(super) fn predict(
    py: Python<'_>,
    traces: Vec<Bound<'_, Trace>>,
    against: Vec<Bound<'_, Trace>>,
    replicates: u32,
    page_move_ns: Option<u64>,
    threads: Option<usize>,
    progress: Option<Bound<'_, PyAny>>,
    settings: &Bound<'_, PyDict>,
) -> PyResult<Outcome> {
    let change = SettingChange::new(settings::turned(settings)?).map_err(Failure::from)?;
    let control = Arc::new(Control::default());
    let options = PredictOptions { replays: replays(replicates)?, threads };
    let how = Predicting { options, page_move_ns, control: Arc::clone(&control) };
    let recordings = |traces: &[Bound<'_, Trace>]| {
        traces.iter().map(|trace| trace.clone().unbind()).collect::<Vec<Py<Trace>>>()
    };
    let (traces, against) = (recordings(&traces), recordings(&against));
    let prediction = wait(py, &control, progress.as_ref(), || {
        predict_change(&change, &recordings_of(&traces), &recordings_of(&against), &how)
    })?;
    for trace in traces.iter().chain(&against) {
        trace.get().warn(py)?;
    }
    Ok(Outcome::new(prediction.columns(), prediction.text(true))?.with_data(json(&prediction)?))
}

/// Analyses the requests of a trace.
#[pyfunction]
#[pyo3(signature = (trace, progress))]
pub(super) fn analyze(
    py: Python<'_>,
    trace: &Bound<'_, Trace>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Outcome> {
    let trace = trace.get();
    let control = Arc::new(Control::default());
    let (analysis, pictures) = wait(py, &control, progress.as_ref(), || {
        let analysis = trace.analysis()?;
        let pictures = analysis.pictures();
        let pictures = pictures.map_err(|error| Failure::of_lab(&trace.source.name(), &error))?;
        Ok((analysis, pictures))
    })?;
    trace.warn(py)?;
    let text = analysis.text(&trace.source.name());
    let outcome = Outcome::new(analysis.columns(), text)?.with_tables(&analysis.tables())?;
    let pictures = pictures.into_iter().map(|picture| (picture.file.to_owned(), picture.svg));
    Ok(outcome.with_pictures(pictures.collect()).with_data(json(&analysis)?))
}
