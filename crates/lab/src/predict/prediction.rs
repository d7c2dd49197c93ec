//! The prediction of all measures under a change, from several recordings, and its comparison with observations.

use serde::Serialize;

use super::change::{SettingChange, Turned};
use super::facts::Facts;
use super::measure::{Measure, Observed, measure};
use super::recordings::{BaselineRecording, ChangedRecording};
use super::requests::request_differences;
use super::series::Series;
use super::subjects;
use super::verdict::PredictionVerdict;
use crate::columns::{Column, Columns};

/// The prediction of all measures.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Prediction {
    /// The change.
    pub change: String,
    /// The recorded setting that the change replaces.
    pub instead_of: String,
    /// The recorded kernel.
    pub kernel_release: String,
    /// The number of recordings before the change.
    pub recordings: usize,
    /// The number of replays of each recording without the change. The number with the change is the same.
    pub replays: usize,
    /// The number of recordings under the change; `None` without such recordings.
    pub against: Option<usize>,
    /// The time of moving a page in nanoseconds: the mean over the recordings that contain it, or the given time.
    /// `None` if no recording contains it; the replays then use the default of [`MoveCost`](crate::MoveCost).
    pub page_move_ns: Option<u64>,
    /// Sentences on properties that could not be checked, and on too few recordings.
    pub notes: Vec<String>,
    /// The measures. Without fallbacks between types that occur in no recording and no replay.
    pub measures: Vec<Measure>,
}

impl Prediction {
    /// Predicts from recordings. `first` are the facts of the first recording, `observed` the recordings under the
    /// change.
    pub fn new(
        change: &SettingChange,
        first: &Facts,
        before: &[BaselineRecording],
        observed: Option<&[ChangedRecording]>,
        mut notes: Vec<String>,
    ) -> Self {
        for (side, count) in [("before", Some(before.len())), ("under", observed.map(<[_]>::len))] {
            match count {
                Some(1) => notes.push(format!(
                    "one recording {side} the change: standard deviation and noise are unknown; give five"
                )),
                Some(few @ 2..5) => notes.push(format!(
                    "{few} recordings {side} the change: only large changes exceed the noise; give five"
                )),
                _ => {}
            }
        }
        let otherwise = observed.filter(|_| change.is_another_kernel()).and_then(|observed| {
            let before: Vec<_> = before.iter().map(|of| &of.request_counts).collect();
            let observed: Vec<_> = observed.iter().map(|of| &of.request_counts).collect();
            request_differences(&before, &observed)
        });
        notes.extend(otherwise.clone());
        let names = subjects::names().into_iter().enumerate();
        let not_of_eras = subjects::why_not_of_eras();
        let by_lists = by_lists(first, before);
        let measures = names.map(|(number, (name, unit))| {
            let unmodelled = not_of_eras[number].filter(|_| change.is_another_kernel());
            let by_lists = if name == subjects::FREE_PAGEBLOCKS { by_lists } else { 0.0 };
            let series = Series { unmodelled, by_lists, ..Series::new(number, before) };
            let values = |of: fn(&ChangedRecording) -> &[Option<f64>]| {
                observed.and_then(|observed| {
                    observed.iter().map(|one| of(one)[number]).collect::<Option<Vec<_>>>()
                })
            };
            let (known, at_start) = (values(|observed| &observed.own), values(|observed| &observed.at_start));
            let replayed = observed.and_then(|observed| replays_of(observed, number));
            let observed = Observed {
                has_recordings: observed.is_some(),
                values: known.as_deref(),
                at_start: at_start.as_deref(),
                replayed: replayed.as_deref(),
                otherwise: otherwise.as_deref(),
            };
            measure(name, unit, &series, observed)
        });
        let is_shown = |measure: &Measure| {
            let means = [measure.before, measure.predicted, measure.observed];
            !measure.measure.starts_with("fallback ") || means.into_iter().flatten().any(|mean| mean != 0.0)
        };
        Self {
            change: change.to_string(),
            instead_of: instead_of(change, first),
            kernel_release: first.kernel_release.clone(),
            recordings: before.len(),
            replays: before.first().map_or(0, |observation| observation.baseline.len()),
            against: observed.map(<[_]>::len),
            page_move_ns: page_move_ns(before),
            notes,
            measures: measures.filter(is_shown).collect(),
        }
    }

    /// Returns the measures as a table, with a column for each number of [`Measure`].
    pub fn columns(&self) -> Columns {
        let all = &self.measures;
        let reals = |of: fn(&Measure) -> Option<f64>| Column::Reals(all.iter().map(of).collect());
        let mut columns = Columns::default();
        columns.push("measure", Column::texts(all.iter().map(|of| of.measure.as_str())));
        columns.push("unit", Column::texts(all.iter().map(|of| of.unit)));
        columns.push("before", reals(|of| of.before));
        columns.push("before_sd", reals(|of| of.before_sd));
        columns.push("predicted", reals(|of| of.predicted));
        columns.push("predicted_sd", reals(|of| of.predicted_sd));
        columns.push("predicted_noise", reals(|of| of.predicted_noise));
        columns.push("observed", reals(|of| of.observed));
        columns.push("observed_sd", reals(|of| of.observed_sd));
        columns.push("observed_noise", reals(|of| of.observed_noise));
        let verdicts = all.iter().map(|of| of.verdict.map(|verdict| verdict.name().to_owned()));
        columns.push("verdict", Column::Texts(verdicts.collect()));
        columns.push("why", Column::Texts(all.iter().map(|of| of.why.clone()).collect()));
        let recorded = all.iter().map(|of| Some(of.before_is_recorded));
        columns.push("before_is_recorded", Column::Flags(recorded.collect()));
        columns
    }

    /// Returns the number of measures with a verdict.
    pub fn count(&self, verdict: PredictionVerdict) -> usize {
        self.measures.iter().filter(|measure| measure.verdict == Some(verdict)).count()
    }
}

/// Returns the mean time of moving a page over the recordings that contain it.
fn page_move_ns(before: &[BaselineRecording]) -> Option<u64> {
    let known: Vec<_> =
        before.iter().filter(|of| of.moves.is_recorded).map(|of| of.moves.ns_a_page).collect();
    known.iter().sum::<u64>().checked_div(known.len() as u64)
}

/// Returns the values of a measure in the replays of each recording under the change; `None` if one was not replayed.
fn replays_of(observed: &[ChangedRecording], number: usize) -> Option<Vec<Vec<f64>>> {
    let of = |one: &ChangedRecording| {
        one.before_change.iter().map(|replay| replay[number]).collect::<Option<Vec<_>>>()
    };
    observed.iter().map(|one| of(one).filter(|replays| !replays.is_empty())).collect()
}

/// Returns the number of pageblocks that become free if per-CPU lists return the pages that they keep less under the
/// change: negative if they keep more, 0 if the size of a pageblock was not recorded.
fn by_lists(first: &Facts, before: &[BaselineRecording]) -> f64 {
    let number = subjects::names().iter().position(|(name, _)| name == subjects::ON_LISTS);
    let change = number.map_or(0.0, |number| Series::new(number, before).change());
    first.number("pageblock_order").map_or(0.0, |order| -change / f64::exp2(order as f64))
}

/// Returns the recorded setting that the change replaces.
fn instead_of(change: &SettingChange, first: &Facts) -> String {
    let era = first.era().map_or("an unknown era", freehold::Era::name);
    let mut texts: Vec<String> = Vec::new();
    for turned in change.each() {
        let text = match turned {
            Turned::Era(_) | Turned::Switch(..) => era.to_owned(),
            Turned::Number(knob, _) => first
                .number(knob)
                .map_or_else(|| "the recorded value".to_owned(), |number| number.to_string()),
        };
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts.join(", ")
}
