//! The predicted and the observed value of one measure.

use serde::Serialize;

use super::noise::{MeanDifference, Spread, mean, paired, spread, unpaired};
use super::series::{
    Series, differ_at_start, differences, is_of_lists, is_of_requests, is_too_far, means, predicted,
};
use super::subjects;
use super::verdict::PredictionVerdict;

/// The predicted and the observed value of one measure.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Measure {
    /// The name.
    pub measure: String,
    /// The unit.
    pub unit: &'static str,
    /// The mean over the recordings before the change; `None` if neither recordings nor replays contain the measure.
    pub before: Option<f64>,
    /// The standard deviation of a single recording before the change.
    pub before_sd: Option<f64>,
    /// The predicted mean under the change; `None` if the recordings do not support a prediction.
    pub predicted: Option<f64>,
    /// The predicted standard deviation of a single recording under the change.
    pub predicted_sd: Option<f64>,
    /// The mean over the recordings under the change; `None` if there are none, or if they lack the measure.
    pub observed: Option<f64>,
    /// The standard deviation of a single recording under the change.
    pub observed_sd: Option<f64>,
    /// The comparison of prediction and observation; `None` without recordings under the change.
    pub verdict: Option<PredictionVerdict>,
    /// True if the values before the change are from the machine; false if they are from the replay.
    pub before_is_recorded: bool,
    /// The value in each recording before the change, or the mean of its replays. `None` if `before` is `None`.
    pub before_each: Option<Vec<f64>>,
    /// The predicted value for each of these recordings, as a mean over its replays.
    pub predicted_each: Option<Vec<f64>>,
    /// The value in each recording under the change. `None` if `observed` is `None`.
    pub observed_each: Option<Vec<f64>>,
    /// Half of the 99 % confidence interval of the predicted change; `None` for one recording.
    pub predicted_noise: Option<f64>,
    /// Half of the 99 % confidence interval of the observed change; `None` if a side has one recording.
    pub observed_noise: Option<f64>,
    /// The reason if the measure is undecided; `None` otherwise.
    pub why: Option<String>,
}

impl Measure {
    /// Returns the predicted change.
    pub(super) fn change(&self) -> Option<f64> {
        Some(self.predicted? - self.before?)
    }

    /// Returns true if the predicted change exceeds the noise. With one recording, any change counts.
    pub(super) fn is_predicted_to_change(&self) -> bool {
        let noise = self.predicted_noise.unwrap_or(0.0);
        self.change().is_some_and(|change| change.abs() > noise.max(1e-9))
    }
}

/// The values of one measure under the change, if there are recordings of it.
#[derive(Clone, Copy, Default)]
pub(super) struct Observed<'a> {
    /// True if there are recordings under the change.
    pub(super) has_recordings: bool,
    /// The value of the machine in each recording; `None` if a recording lacks it.
    pub(super) values: Option<&'a [f64]>,
    /// The value of the machine at the start of each recording; `None` for counts that begin with the recording.
    pub(super) at_start: Option<&'a [f64]>,
    /// The values in replays of each recording in the era before the change; `None` without such replays.
    pub(super) replayed: Option<&'a [Vec<f64>]>,
    /// A sentence on how the requests differ from those before the change; `None` if they do not differ.
    pub(super) otherwise: Option<&'a str>,
}

/// Predicts one measure and, if there are recordings under the change, compares the prediction with the observation.
pub(super) fn measure(name: String, unit: &'static str, series: &Series, given: Observed<'_>) -> Measure {
    let observed = given.values;
    let before = series.before();
    let is_events = subjects::EVENTS.contains(&unit);
    let before_spread = before.as_deref().map(spread);
    let own = series.own.as_deref();
    let (mut after, mut predicted_each, mut change) = (None, None, None);
    let mut why = match (&before, &series.baseline, &series.changed) {
        (Some(before), Some(baseline), Some(changed)) => {
            let values = predicted(before, baseline, changed);
            let difference = paired(&differences(before, &values));
            let [from, to] = [before, &values].map(|values| (spread(values).mean, values.len()));
            let difference =
                difference.map(|change| if is_events { change.of_events(from, to) } else { change });
            let predicts = difference.is_some_and(MeanDifference::is_beyond_noise);
            let too_far = || own.and_then(|_| is_too_far(before, baseline, changed, predicts));
            let of_lists = || is_of_lists(series.by_lists, difference?);
            let why = series.unmodelled.map(str::to_owned).or_else(too_far).or_else(of_lists);
            if why.is_none() {
                after = Some(spread(&values));
                predicted_each = Some(means(&values));
                change = difference;
            }
            why
        }
        (_, None, _) => Some("the replay does not compute this: the value comes from the trace".to_owned()),
        _ => Some("the change gives pageblocks another size".to_owned()),
    };
    let observed_change = own.zip(observed).and_then(|(own, observed)| {
        let change = unpaired(own, observed)?;
        let [from, to] = [own, observed].map(|values| (mean(values), values.len()));
        Some(if is_events { change.of_events(from, to) } else { change })
    });
    if why.is_none() {
        why = differ_at_start(series, given.at_start, [change, observed_change]);
    }
    if why.is_none() {
        why = given.otherwise.map(str::to_owned);
    }
    if why.is_none() {
        why = is_of_requests(series, given.replayed, [change, observed_change]);
    }
    let verdict = given.has_recordings.then(|| judged(&mut why, own, observed, change, observed_change));
    let observed_spread = observed.map(|observed| {
        let recordings: Vec<_> = observed.iter().map(|&value| vec![value]).collect();
        spread(&recordings)
    });
    let mean_of = |spread: Option<Spread>| spread.map(|spread| spread.mean);
    let sd_of = |spread: Option<Spread>| spread.and_then(|spread| spread.sd);
    Measure {
        measure: name,
        unit,
        before: mean_of(before_spread),
        before_sd: sd_of(before_spread),
        predicted: mean_of(after),
        predicted_sd: sd_of(after),
        observed: mean_of(observed_spread),
        observed_sd: sd_of(observed_spread),
        verdict,
        before_is_recorded: own.is_some(),
        before_each: before.as_deref().map(means),
        predicted_each,
        observed_each: observed.map(<[f64]>::to_vec),
        predicted_noise: change.map(MeanDifference::noise),
        observed_noise: observed_change.map(MeanDifference::noise),
        why,
    }
}

/// Returns the verdict. Sets `why` if the verdict is [`PredictionVerdict::Undecided`].
fn judged(
    why: &mut Option<String>,
    own: Option<&[f64]>,
    observed: Option<&[f64]>,
    change: Option<MeanDifference>,
    observed_change: Option<MeanDifference>,
) -> PredictionVerdict {
    if why.is_some() {
        return PredictionVerdict::Undecided;
    }
    if let Some((predicted, observed)) = change.zip(observed_change) {
        let verdict = PredictionVerdict::new(predicted, observed);
        if verdict == PredictionVerdict::Undecided {
            let reason = if predicted.is_beyond_noise() {
                "the predicted change is smaller than the noise of the observed one"
            } else {
                "the observed change is smaller than the noise of the predicted one"
            };
            *why = Some(reason.to_owned());
        }
        return verdict;
    }
    let missing = match (own, observed) {
        (None, _) => "the recordings before the change lack the machine's own value",
        (_, None) => "the recordings under the change lack the machine's own value",
        _ => "one recording has no standard deviation",
    };
    *why = Some(missing.to_owned());
    PredictionVerdict::Undecided
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(own: Option<&[f64]>, baseline: &[f64], changed: &[f64]) -> Series {
        let one_replay = |values: &[f64]| Some(values.iter().map(|&value| vec![value]).collect());
        let (baseline, changed) = (one_replay(baseline), one_replay(changed));
        let own = own.map(<[_]>::to_vec);
        Series { at_start: None, own, baseline, changed, unmodelled: None, by_lists: 0.0 }
    }

    fn judge(own: Option<&[f64]>, baseline: &[f64], changed: &[f64], observed: &[f64]) -> Measure {
        let given = Observed {
            has_recordings: true,
            values: (!observed.is_empty()).then_some(observed),
            ..Observed::default()
        };
        measure("free".to_owned(), "pages", &series(own, baseline, changed), given)
    }

    #[test]
    fn a_difference_at_the_start_makes_the_measure_undecided() {
        let own = [118.0, 120.0, 121.0, 122.0];
        let judge = |at_start: [f64; 4]| {
            let series =
                Series { at_start: Some(vec![119.0, 120.0, 121.0, 121.0]), ..series(Some(&own), &own, &own) };
            let values = Some(&[66.0, 67.0, 68.0, 69.0][..]);
            let given =
                Observed { has_recordings: true, values, at_start: Some(&at_start), ..Observed::default() };
            measure("free".to_owned(), "pages", &series, given)
        };
        let other_past = judge([69.0, 70.0, 71.0, 71.0]);
        assert_eq!(other_past.verdict, Some(PredictionVerdict::Undecided));
        assert!(other_past.why.is_some_and(|why| why.contains("120 and 70")));
        assert_eq!(
            judge([119.0, 120.0, 121.0, 120.0]).verdict,
            Some(PredictionVerdict::Missed),
            "the same start"
        );
        assert_eq!(
            judge([115.0, 114.0, 115.0, 116.0]).verdict,
            Some(PredictionVerdict::Missed),
            "a small part of the observed change"
        );
    }

    #[test]
    fn the_prediction_scales_the_machine_as_the_replay_changes() {
        let own = [216.0, 220.0, 224.0];
        let of = judge(Some(&own), &[196.0, 200.0, 204.0], &[98.0, 100.0, 102.0], &[110.0, 120.0, 106.0]);
        let predicted = of.predicted.expect("predicted");
        assert!((predicted - 110.0).abs() < 1e-9, "{predicted}: half of 220, as the replay halves");
        assert_eq!((of.before, of.observed, of.before_is_recorded), (Some(220.0), Some(112.0), true));
        assert_eq!((of.before_sd, of.predicted_sd), (Some(4.0), Some(2.0)));
        assert_eq!(of.verdict, Some(PredictionVerdict::Right), "{of:?}");
    }

    #[test]
    fn changes_are_paired_by_recording() {
        let base = [100.0, 200.0, 300.0];
        let of = judge(None, &base, &[111.0, 210.0, 309.0], &[]);
        assert!((of.predicted.expect("predicted") - 210.0).abs() < 1e-9);
        assert!(of.is_predicted_to_change(), "10 ± 1 although recordings differ by 100: {of:?}");
        assert!(!of.before_is_recorded);
        assert_eq!(of.verdict, Some(PredictionVerdict::Undecided), "the machine's own value is unknown");
        // The same changes, but of other recordings.
        let of = judge(None, &base, &[309.0, 210.0, 111.0], &[]);
        assert!(!of.is_predicted_to_change(), "{of:?}");
    }

    #[test]
    fn zero_baselines_predict_by_difference() {
        let of = judge(Some(&[0.0; 4]), &[0.0; 4], &[7.0, 9.0, 8.0, 8.0], &[8.0, 8.5, 8.0, 8.5]);
        assert_eq!((of.predicted, of.verdict), (Some(8.0), Some(PredictionVerdict::Right)));
        let of = judge(Some(&[0.0, 0.0]), &[0.0, 0.0], &[0.0, 0.0], &[0.0, 0.0]);
        assert_eq!((of.predicted, of.verdict), (Some(0.0), Some(PredictionVerdict::Quiet)));
    }

    #[test]
    fn a_replay_too_far_from_the_machine_predicts_nothing() {
        let far = judge(Some(&[100.0, 101.0]), &[60.0, 61.0], &[50.0, 50.5], &[90.0, 91.0]);
        assert_eq!((far.predicted, far.verdict), (None, Some(PredictionVerdict::Undecided)));
        assert_eq!(far.why.as_deref(), Some("the baseline replay has 60.5, the machine 101"));
        // A baseline 10 % from the machine: smaller changes are undecided; larger ones and no change are predicted.
        let near = |changed, observed| judge(Some(&[100.0, 100.1]), &[110.0, 110.1], changed, observed);
        let small = near(&[105.0, 105.1], &[95.0, 95.1]);
        assert_eq!((small.predicted, small.verdict), (None, Some(PredictionVerdict::Undecided)));
        assert!(small.why.is_some_and(|why| {
            why.ends_with("the machine 100, a difference larger than the predicted change")
        }));
        assert_eq!(near(&[90.0, 90.1], &[82.0, 82.1]).verdict, Some(PredictionVerdict::Right));
        assert_eq!(near(&[110.0, 110.1], &[100.0, 100.1]).verdict, Some(PredictionVerdict::Quiet));
        // A baseline far from the machine, and a predicted change that is larger.
        let large = judge(Some(&[100.0, 101.0]), &[60.0, 61.0], &[20.0, 20.5], &[33.0, 34.0]);
        assert_eq!(large.verdict, Some(PredictionVerdict::Right), "{large:?}");
        // A baseline beyond a factor of two: undecided for any change.
        let wild = judge(Some(&[100.0, 101.0]), &[40.0, 41.0], &[1.0, 1.5], &[2.0, 2.5]);
        assert_eq!((wild.predicted, wild.verdict), (None, Some(PredictionVerdict::Undecided)));
        let nothing = judge(Some(&[8.0, 9.0]), &[0.0, 0.0], &[0.0, 0.0], &[8.0, 9.0]);
        assert_eq!(
            nothing.verdict,
            Some(PredictionVerdict::Undecided),
            "the replay does nothing of what the machine does"
        );
        // A baseline far from the machine, but within the noise of the recordings.
        let noisy = judge(Some(&[100.0, 10.0]), &[10.0, 60.0], &[10.0, 60.0], &[40.0, 60.0]);
        assert_eq!(noisy.verdict, Some(PredictionVerdict::Quiet), "{noisy:?}");
    }

    #[test]
    fn one_recording_gives_a_prediction_without_a_verdict() {
        let of = judge(Some(&[100.0]), &[100.0], &[50.0], &[50.0, 51.0]);
        assert_eq!((of.predicted, of.predicted_sd, of.predicted_noise), (Some(50.0), None, None));
        assert_eq!((of.verdict, of.why.is_some()), (Some(PredictionVerdict::Undecided), true));
        let observed = judge(Some(&[100.0, 101.0]), &[100.0, 101.0], &[50.0, 51.0], &[50.0]);
        assert_eq!((observed.verdict, observed.observed_sd), (Some(PredictionVerdict::Undecided), None));
    }

    #[test]
    fn planted_errors_get_the_right_verdicts() {
        let (own, base) = ([100.0, 100.2, 100.4], [100.0, 100.2, 100.4]);
        for (changed, observed, verdict) in [
            ([150.0, 150.2, 150.4], [150.0, 150.1, 150.3], PredictionVerdict::Right),
            ([150.0, 150.2, 150.4], [300.0, 300.1, 300.3], PredictionVerdict::Size),
            ([150.0, 150.2, 150.4], [50.0, 50.1, 50.3], PredictionVerdict::Direction),
            ([100.0, 100.2, 100.4], [150.0, 150.1, 150.3], PredictionVerdict::Missed),
            ([150.0, 150.2, 150.4], [100.0, 100.2, 100.45], PredictionVerdict::FalseAlarm),
            ([100.0, 100.2, 100.4], [100.0, 100.2, 100.45], PredictionVerdict::Quiet),
            ([100.2, 100.4, 100.61], [100.0, 100.2, 100.45], PredictionVerdict::Undecided),
        ] {
            let of = judge(Some(&own), &base, &changed, &observed);
            assert_eq!(of.verdict, Some(verdict), "{of:?}");
            assert_eq!(of.why.is_some(), verdict == PredictionVerdict::Undecided);
        }
    }

    #[test]
    fn a_change_explained_by_other_requests_is_undecided() {
        let own = [163.0, 160.0, 166.0];
        let judge = |replayed: [f64; 3], changed: [f64; 3], observed: [f64; 3]| {
            let replayed = replayed.map(|value| vec![value]);
            let given = Observed {
                has_recordings: true,
                values: Some(&observed),
                replayed: Some(&replayed),
                ..Observed::default()
            };
            measure("refills".to_owned(), "pages", &series(Some(&own), &own, &changed), given)
        };
        let of = judge([243.0, 245.0, 247.0], own, [244.0, 246.0, 242.0]);
        assert_eq!(of.verdict, Some(PredictionVerdict::Undecided), "other requests explain the whole change");
        assert!(of.why.is_some_and(|why| why.contains("give 245, those before the change 163")));
        assert_eq!(
            judge(own, own, [244.0, 246.0, 242.0]).verdict,
            Some(PredictionVerdict::Missed),
            "other requests explain nothing"
        );
        let most = judge([170.0, 173.0, 176.0], [20.0, 21.0, 22.0], [25.0, 26.0, 27.0]);
        assert_eq!(most.verdict, Some(PredictionVerdict::Right), "other requests explain a small part");
    }

    #[test]
    fn different_requests_make_the_measure_undecided() {
        let own = [100.0, 100.2, 100.4];
        let given = Observed {
            has_recordings: true,
            values: Some(&[150.0, 150.1, 150.3]),
            otherwise: Some("the requests differ"),
            ..Observed::default()
        };
        let of = measure(
            "refills".to_owned(),
            "refills",
            &series(Some(&own), &own, &[150.0, 150.2, 150.4]),
            given,
        );
        assert_eq!((of.verdict, of.predicted.is_some()), (Some(PredictionVerdict::Undecided), true));
        assert_eq!(of.why.as_deref(), Some("the requests differ"));
    }

    #[test]
    fn measures_that_eras_do_not_model_are_undecided() {
        let own = [5.0, 6.0];
        let of =
            Series { unmodelled: Some("eras do not model this"), ..series(Some(&own), &own, &[9.0, 9.5]) };
        let given = Observed { has_recordings: true, values: Some(&[9.0, 9.5]), ..Observed::default() };
        let of = measure("reclaimed".to_owned(), "pages", &of, given);
        assert_eq!((of.predicted, of.verdict), (None, Some(PredictionVerdict::Undecided)));
        assert_eq!(of.why.as_deref(), Some("eras do not model this"));
    }

    #[test]
    fn changes_explained_by_pages_on_per_cpu_lists_are_undecided() {
        let own = [30.0, 30.2, 30.4];
        let judge = |by_lists: f64, changed: [f64; 3]| {
            let of = Series { by_lists, ..series(Some(&own), &own, &changed) };
            let given =
                Observed { has_recordings: true, values: Some(&[30.1, 30.2, 30.3]), ..Observed::default() };
            measure("free".to_owned(), "pageblocks", &of, given)
        };
        let five_more = [35.0, 35.2, 35.4];
        let of = judge(13.0, five_more);
        assert_eq!(
            (of.predicted, of.verdict),
            (None, Some(PredictionVerdict::Undecided)),
            "per-CPU lists return 13 at most"
        );
        assert!(of.why.is_some_and(|why| why.contains("up to 13 of a predicted change of 5")));
        for by_lists in [0.0, 4.0, -13.0] {
            assert_eq!(judge(by_lists, five_more).verdict, Some(PredictionVerdict::FalseAlarm), "{by_lists}");
        }
        assert_eq!(judge(13.0, own).verdict, Some(PredictionVerdict::Quiet), "no change is predicted");
    }

    #[test]
    fn measures_without_a_replay_are_undecided() {
        let own = Series { baseline: None, changed: None, ..series(Some(&[5.0, 6.0]), &[], &[]) };
        let given = Observed { has_recordings: true, values: Some(&[9.0, 9.5]), ..Observed::default() };
        let of = measure("scanned".to_owned(), "pages", &own, given);
        assert_eq!((of.before, of.predicted, of.observed), (Some(5.5), None, Some(9.25)));
        assert_eq!(of.verdict, Some(PredictionVerdict::Undecided));
    }
}
