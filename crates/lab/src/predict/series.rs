//! The values of a measure in each recording and in its replays, and what they say of a change.

use super::noise::{Difference, mean, paired, spread, unpaired};
use super::recordings::BaselineRecording;
use super::short::number;

/// How far the replay as recorded may be from the machine to be believed if it foretells no change.
const NEAR: f64 = 1.25;

/// How far it may be if the foretold change is larger than that.
const FAR: f64 = 2.0;

/// By which part of a change recordings may differ before their first event.
const EARLIER: f64 = 0.25;

/// The values of one measure before the change.
pub(super) struct Series {
    /// The machine's own at the start of each recording; `None` of what begins with the recording.
    pub(super) at_start: Option<Vec<f64>>,
    /// The machine's own in each recording; `None` if a recording does not tell.
    pub(super) own: Option<Vec<f64>>,
    /// Of each recording the values of its replays as recorded; `None` if a replay does not do this.
    pub(super) baseline: Option<Vec<Vec<f64>>>,
    /// The same with the change.
    pub(super) changed: Option<Vec<Vec<f64>>>,
    /// Why replays do not tell what the change makes of it; `None` if they do.
    pub(super) untraced: Option<&'static str>,
    /// By how much it changes if what the change makes CPUs' lists hold less comes back, or what they hold more is
    /// taken; 0 if it does not depend on that.
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
            untraced: None,
            by_lists: 0.0,
        }
    }

    /// Returns by how much the change alters the values of the replays; 0 if they do not tell.
    pub(super) fn change(&self) -> f64 {
        let both = self.baseline.as_ref().zip(self.changed.as_ref());
        both.map_or(0.0, |(baseline, changed)| spread(changed).mean - spread(baseline).mean)
    }

    /// Returns the values before the change, in the shape of the replays: the machine's own, or the replays'.
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

/// Returns the foretold values: those before times what the change makes of the replay, both as means over all
/// recordings. What a replay differs from the others goes to its recording, so that the change is paired.
///
/// A machine and its replay differ rather by a factor than by a sum. Where one of them has nothing, a sum it is; nothing
/// is ever less than none.
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

/// Returns how many times as large the larger of two numbers is.
fn times(one: f64, other: f64) -> f64 {
    let (least, most) = (one.min(other), one.max(other));
    if most <= 0.0 { 1.0 } else { most / least.max(0.0) }
}

/// Returns why a replay is not to be believed: it is too far from the machine as recorded, or further than what it
/// foretells, if it `predicts` a change beyond the noise. `None` if it is to be believed.
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
    let further = if off <= NEAR { ", further off than what it foretells" } else { "" };
    (!is_believed).then(|| format!("as recorded the replay has {base}, the machine {machine}{further}"))
}

/// Returns why a change is not told: what CPUs' lists give back or keep, that once, can be all of it, and a machine that
/// has always been set so began without that. `None` if it is more.
pub(super) fn is_of_lists(by_lists: f64, change: Difference) -> Option<String> {
    let is_all = change.mean * by_lists > 0.0 && change.mean.abs() <= by_lists.abs();
    (change.is_beyond_noise() && is_all).then(|| {
        let [by_lists, change] = [by_lists, change.mean].map(number);
        format!("what waits on CPUs' lists when a recording begins is of the recorded setting: given back or kept, it alone makes up to {by_lists} where {change} are foretold")
    })
}

/// Returns why what came is not of the allocator alone: what the machine was asked for under the change, or where it began,
/// makes another value of it already in the era before the change (`replayed`), by more than a quarter of what was foretold
/// or came. `None` if it does not.
pub(super) fn is_of_requests(
    series: &Series,
    replayed: Option<&[Vec<f64>]>,
    changes: [Option<Difference>; 2],
) -> Option<String> {
    let (own, baseline, replayed) = (series.own.as_deref()?, series.baseline.as_deref()?, replayed?);
    let otherwise = unpaired(&means(baseline), &means(replayed))?;
    let [machine, base] = [mean(own), mean(&means(baseline))];
    let scale = if machine > 0.0 && base > 0.0 { machine / base } else { 1.0 };
    let most = changes.iter().flatten().fold(0.0_f64, |most, change| most.max(change.mean.abs()));
    let is_large = otherwise.is_beyond_noise() && scale * otherwise.mean.abs() > EARLIER * most;
    is_large.then(|| {
        let [from, to] = [baseline, replayed].map(|values| number(mean(&means(values))));
        format!("what came is not of the allocator alone: replayed without the change, these requests have {to} already, and the others {from}")
    })
}

/// Returns why what came does not show the change: the sides differed before the first event, by more than a quarter of
/// what was foretold or came. `None` if it does.
pub(super) fn differ_at_start(
    series: &Series,
    at_start: Option<&[f64]>,
    changes: [Option<Difference>; 2],
) -> Option<String> {
    let (before, under) = series.at_start.as_deref().zip(at_start)?;
    let earlier = unpaired(before, under)?;
    let most = changes.iter().flatten().fold(0.0_f64, |most, change| most.max(change.mean.abs()));
    let is_large = earlier.is_beyond_noise() && earlier.mean.abs() > EARLIER * most;
    is_large.then(|| {
        let [from, to] = [before, under].map(|values| number(mean(values)));
        format!("the recordings differ before their first event, {from} and {to}: what the change made of the time before is in it")
    })
}
