//! The values of a measure in each recording and in its replays, and the reasons against a prediction.

use super::noise::{MeanDifference, mean, paired, spread, unpaired};
use super::recordings::BaselineRecording;
use super::short::number;

/// The largest accepted ratio between machine and baseline replay if no change is predicted.
const NEAR: f64 = 1.25;

/// The largest accepted ratio between machine and baseline replay if the predicted change is larger than the
/// difference.
const FAR: f64 = 2.0;

/// The largest accepted difference at the start, as a share of the change.
const EARLIER: f64 = 0.25;

/// The values of one measure before the change.
pub(super) struct Series {
    /// The value of the machine at the start of each recording; `None` for counts that begin with the recording.
    pub(super) at_start: Option<Vec<f64>>,
    /// The value of the machine in each recording; `None` if a recording lacks it.
    pub(super) own: Option<Vec<f64>>,
    /// The values in the replays of each recording without the change; `None` if replays do not compute the measure.
    pub(super) baseline: Option<Vec<Vec<f64>>>,
    /// The values in the replays of each recording with the change; `None` if replays do not compute the measure.
    pub(super) changed: Option<Vec<Vec<f64>>>,
    /// The reason if replays do not model the effect of the change on this measure; `None` if they do.
    pub(super) unmodelled: Option<&'static str>,
    /// The change of the measure if per-CPU lists return pages that they keep less under the change, or take pages
    /// that they keep more; 0 if the measure does not depend on these pages.
    pub(super) by_lists: f64,
}

impl Series {
    pub(super) fn new(number: usize, observations: &[BaselineRecording]) -> Self {
        let replays = |of: fn(&BaselineRecording) -> &[Vec<Option<f64>>]| {
            let recordings = observations.iter().map(|observation| {
                of(observation).iter().map(|replay| replay[number]).collect::<Option<Vec<f64>>>()
            });
            recordings.collect()
        };
        Self {
            at_start: observations.iter().map(|observation| observation.at_start[number]).collect(),
            own: observations.iter().map(|observation| observation.own[number]).collect(),
            baseline: replays(|of| &of.baseline),
            changed: replays(|of| &of.changed),
            unmodelled: None,
            by_lists: 0.0,
        }
    }

    /// Returns the effect of the change in the replays; 0 if replays do not compute the measure.
    pub(super) fn change(&self) -> f64 {
        let both = self.baseline.as_ref().zip(self.changed.as_ref());
        both.map_or(0.0, |(baseline, changed)| spread(changed).mean - spread(baseline).mean)
    }

    /// Returns the values before the change, one for each replay: of the machine if known, otherwise of the replays.
    pub(super) fn before(&self) -> Option<Vec<Vec<f64>>> {
        match (&self.own, &self.baseline) {
            (None, baseline) => baseline.clone(),
            (Some(own), None) => Some(own.iter().map(|&value| vec![value]).collect()),
            (Some(own), Some(baseline)) => {
                let pairs = own.iter().zip(baseline);
                Some(pairs.map(|(&value, replays)| vec![value; replays.len()]).collect())
            }
        }
    }
}

/// Returns the predicted values: the values before the change, times the ratio of changed to baseline replays. The
/// ratio is of means over all recordings. The deviation of each replay is added to its own recording, so that changes
/// are paired.
///
/// Uses a ratio because machine and replay differ by a factor more often than by a constant. If one of them is 0, adds
/// the difference instead. Predicted values are never negative.
pub(super) fn predicted(before: &[Vec<f64>], baseline: &[Vec<f64>], changed: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let [machine, base, after] = [before, baseline, changed].map(|values| spread(values).mean);
    let is_ratio = machine > 0.0 && base > 0.0;
    let (ratio, scale) = if is_ratio { (after / base, machine / base) } else { (1.0, 1.0) };
    let recordings = before.iter().zip(baseline).zip(changed);
    recordings
        .map(|((before, baseline), changed)| {
            let replays = before.iter().zip(baseline).zip(changed);
            replays
                .map(|((own, base), after)| (ratio * own + scale * (after - ratio * base)).max(0.0))
                .collect()
        })
        .collect()
}

/// Returns the differences of two series of the same shape.
pub(super) fn differences(from: &[Vec<f64>], to: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let recordings = from.iter().zip(to);
    recordings.map(|(from, to)| from.iter().zip(to).map(|(from, to)| to - from).collect()).collect()
}

/// Returns the mean of each recording's replays.
pub(super) fn means(recordings: &[Vec<f64>]) -> Vec<f64> {
    recordings.iter().map(|replays| mean(replays)).collect()
}

/// Returns the ratio of the larger to the smaller of two numbers.
fn times(one: f64, other: f64) -> f64 {
    let (least, most) = (one.min(other), one.max(other));
    if most <= 0.0 { 1.0 } else { most / least.max(0.0) }
}

/// Returns the reason if the baseline replay is too far from the machine. The difference may not exceed the predicted
/// change if the replay `predicts` a change beyond the noise. `None` if the replay is close enough.
pub(super) fn is_too_far(
    before: &[Vec<f64>],
    baseline: &[Vec<f64>],
    changed: &[Vec<f64>],
    predicts: bool,
) -> Option<String> {
    let [machine, base, after] = [before, baseline, changed].map(|values| spread(values).mean);
    let off = times(machine, base);
    let is_noise = paired(&differences(before, baseline)).is_some_and(|off| !off.is_likely());
    let is_less = off <= FAR && off <= times(base, after);
    let is_believed = is_noise || is_less || (off <= NEAR && !predicts);
    let [base, machine] = [base, machine].map(number);
    let further = if off <= NEAR { ", a difference larger than the predicted change" } else { "" };
    (!is_believed).then(|| format!("the baseline replay has {base}, the machine {machine}{further}"))
}

/// Returns the reason if pages on per-CPU lists explain the whole predicted change. The lists return or keep these
/// pages only once, and a machine that always had the new setting starts without this effect. `None` if the change is
/// larger.
pub(super) fn is_of_lists(by_lists: f64, change: MeanDifference) -> Option<String> {
    let is_all = change.mean * by_lists > 0.0 && change.mean.abs() <= by_lists.abs();
    (change.is_beyond_noise() && is_all).then(|| {
        let [by_lists, change] = [by_lists, change.mean].map(number);
        format!(
            "pages on per-CPU lists at the start depend on the recorded setting: they make up to {by_lists} of a \
             predicted change of {change}"
        )
    })
}

/// Returns the reason if the observed change is not an effect of the allocator alone. The recordings under the change,
/// replayed in the era before the change (`replayed`), then differ from the baseline by more than a quarter of the
/// predicted or observed change. The cause is other requests or another start state. `None` without such a difference.
pub(super) fn is_of_requests(
    series: &Series,
    replayed: Option<&[Vec<f64>]>,
    changes: [Option<MeanDifference>; 2],
) -> Option<String> {
    let (own, baseline, replayed) = (series.own.as_deref()?, series.baseline.as_deref()?, replayed?);
    let otherwise = unpaired(&means(baseline), &means(replayed))?;
    let [machine, base] = [mean(own), mean(&means(baseline))];
    let scale = if machine > 0.0 && base > 0.0 { machine / base } else { 1.0 };
    let most = changes.iter().flatten().fold(0.0_f64, |most, change| most.max(change.mean.abs()));
    let is_large = otherwise.is_beyond_noise() && scale * otherwise.mean.abs() > EARLIER * most;
    is_large.then(|| {
        let [from, to] = [baseline, replayed].map(|values| number(mean(&means(values))));
        format!(
            "the requests differ: replayed without the change, those under the change give {to}, those before the \
             change {from}"
        )
    })
}

/// Returns the reason if the sides differ before the first event by more than a quarter of the predicted or observed
/// change. `None` without such a difference.
pub(super) fn differ_at_start(
    series: &Series,
    at_start: Option<&[f64]>,
    changes: [Option<MeanDifference>; 2],
) -> Option<String> {
    let (before, under) = series.at_start.as_deref().zip(at_start)?;
    let earlier = unpaired(before, under)?;
    let most = changes.iter().flatten().fold(0.0_f64, |most, change| most.max(change.mean.abs()));
    let is_large = earlier.is_beyond_noise() && earlier.mean.abs() > EARLIER * most;
    is_large.then(|| {
        let [from, to] = [before, under].map(|values| number(mean(values)));
        format!(
            "the recordings differ before their first event, {from} and {to}: the change had effects before they \
             began"
        )
    })
}
