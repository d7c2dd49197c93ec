//! What each measure would be under a change, from several recordings, and what came.

use serde::Serialize;

use super::change::{Change, Turned};
use super::facts::Facts;
use super::noise::{Difference, Spread, mean, paired, spread, unpaired};
use super::observation::{Came, Observation};
use super::requests::asked_otherwise;
use super::short::number;
use super::subjects;
use super::verdict::Verdict;

/// How far the replay as recorded may be from the machine to be believed whatever it foretells.
const NEAR: f64 = 1.25;

/// How far it may be if the foretold change is larger than that.
const FAR: f64 = 2.0;

/// By which part of a change recordings may differ before their first event.
const EARLIER: f64 = 0.25;

/// What a measure is foretold to be, and what it came to be.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Measure {
    /// The name.
    pub measure: String,
    /// The unit.
    pub unit: &'static str,
    /// The mean over the recordings before the change; `None` if neither they nor a replay tell.
    pub before: Option<f64>,
    /// The standard deviation of a recording.
    pub before_sd: Option<f64>,
    /// The mean after the change; `None` if the recordings do not support it.
    pub foretold: Option<f64>,
    /// The standard deviation of a recording after the change.
    pub foretold_sd: Option<f64>,
    /// The mean over the recordings under the change; `None` without them, or if they do not tell.
    pub came: Option<f64>,
    /// The standard deviation of a recording under the change.
    pub came_sd: Option<f64>,
    /// What was foretold against what came; `None` without recordings under the change.
    pub verdict: Option<Verdict>,
    /// True if the values before are the machine's own; false if they are the replay's.
    pub before_is_recorded: bool,
    /// The machine's own value in each recording before the change, or the mean of its replays; `None` as `before`.
    pub before_each: Option<Vec<f64>>,
    /// What each of these is foretold to be, as a mean of its replays.
    pub foretold_each: Option<Vec<f64>>,
    /// The value in each recording under the change; `None` as `came`.
    pub came_each: Option<Vec<f64>>,
    /// Half of the 99 % confidence interval of the foretold change; `None` for one recording.
    pub foretold_noise: Option<f64>,
    /// The same of the change that came; `None` for one recording on a side.
    pub came_noise: Option<f64>,
    /// Why the recordings cannot tell; `None` if they can.
    pub why: Option<String>,
}

/// What is foretold of each measure.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Prediction {
    /// What is changed.
    pub change: String,
    /// The recorded setting.
    pub instead_of: String,
    /// The recorded kernel.
    pub kernel_release: String,
    /// The number of recordings before the change.
    pub recordings: usize,
    /// The number of replays of each as recorded, and as many with the change.
    pub replays: usize,
    /// The number of recordings under the change; `None` if there are none to hold it against.
    pub against: Option<usize>,
    /// What could not be checked, and what the number of recordings does not allow.
    pub notes: Vec<String>,
    /// The measures. Fallbacks between two types are left out if no recording and no replay has any.
    pub measures: Vec<Measure>,
}

impl Prediction {
    /// Foretells from recordings; `first` are the facts of the first one. `came` are recordings under the change, if
    /// there are any.
    pub fn new(
        change: &Change,
        first: &Facts,
        before: &[Observation],
        came: Option<&[Came]>,
        mut notes: Vec<String>,
    ) -> Self {
        for (side, count) in [("before", Some(before.len())), ("under", came.map(<[_]>::len))] {
            if count == Some(1) {
                notes.push(format!(
                    "one recording {side} the change: its scatter is not known, nor what is noise; five tell"
                ));
            }
        }
        let otherwise = came.filter(|_| change.is_another_kernel()).and_then(|came| {
            let before: Vec<_> = before.iter().map(|of| &of.asked).collect();
            let came: Vec<_> = came.iter().map(|of| &of.asked).collect();
            asked_otherwise(&before, &came)
        });
        notes.extend(otherwise.clone());
        let names = subjects::names().into_iter().enumerate();
        let not_of_eras = subjects::why_not_of_eras();
        let measures = names.map(|(number, (name, unit))| {
            let untold = not_of_eras[number].filter(|_| change.is_another_kernel());
            let series = Series { untold, ..Series::new(number, before) };
            let values = |of: fn(&Came) -> &[Option<f64>]| {
                came.and_then(|came| came.iter().map(|one| of(one)[number]).collect::<Option<Vec<_>>>())
            };
            let (known, at_start) = (values(|came| &came.own), values(|came| &came.at_start));
            let came = Held {
                there_are: came.is_some(),
                values: known.as_deref(),
                at_start: at_start.as_deref(),
                otherwise: otherwise.as_deref(),
            };
            measure(name, unit, &series, came)
        });
        let is_shown = |measure: &Measure| {
            let means = [measure.before, measure.foretold, measure.came];
            !measure.measure.starts_with("fallback ") || means.into_iter().flatten().any(|mean| mean != 0.0)
        };
        Self {
            change: change.to_string(),
            instead_of: instead_of(change, first),
            kernel_release: first.kernel_release.clone(),
            recordings: before.len(),
            replays: before.first().map_or(0, |observation| observation.baseline.len()),
            against: came.map(<[_]>::len),
            notes,
            measures: measures.filter(is_shown).collect(),
        }
    }

    /// Returns the number of measures with a verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.measures.iter().filter(|measure| measure.verdict == Some(verdict)).count()
    }
}

impl Measure {
    /// Returns by how much the measure is foretold to change.
    pub(super) fn change(&self) -> Option<f64> {
        Some(self.foretold? - self.before?)
    }

    /// Returns true if a change is foretold that is more than noise; for one recording, if any is foretold.
    pub(super) fn is_foretold_to_change(&self) -> bool {
        let noise = self.foretold_noise.unwrap_or(0.0);
        self.change().is_some_and(|change| change.abs() > noise.max(1e-9))
    }
}

/// Returns the recorded setting in place of what changes.
fn instead_of(change: &Change, first: &Facts) -> String {
    let era = first.era().map_or("an unknown era", freehold::Era::name);
    let mut texts: Vec<String> = Vec::new();
    for turned in change.each() {
        let text = match turned {
            Turned::Era(_) | Turned::Switch(..) => era.to_owned(),
            Turned::Number(knob, _) => {
                first.number(knob).map_or_else(|| "what was recorded".to_owned(), |number| number.to_string())
            }
        };
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts.join(", ")
}

/// The values of one measure under the change, if there are recordings of it.
#[derive(Clone, Copy, Default)]
struct Held<'a> {
    /// True if there are.
    there_are: bool,
    /// The machine's own in each recording; `None` if one does not tell.
    values: Option<&'a [f64]>,
    /// The same at the start; `None` of what begins with the recording.
    at_start: Option<&'a [f64]>,
    /// In what the requests differ from those before the change; `None` if they are the same.
    otherwise: Option<&'a str>,
}

/// The values of one measure before the change.
struct Series {
    /// The machine's own at the start of each recording; `None` of what begins with the recording.
    at_start: Option<Vec<f64>>,
    /// The machine's own in each recording; `None` if a recording does not tell.
    own: Option<Vec<f64>>,
    /// Of each recording the values of its replays as recorded; `None` if a replay does not do this.
    baseline: Option<Vec<Vec<f64>>>,
    /// The same with the change.
    changed: Option<Vec<Vec<f64>>>,
    /// Why replays do not tell what the change makes of it; `None` if they do.
    untold: Option<&'static str>,
}

impl Series {
    fn new(number: usize, observations: &[Observation]) -> Self {
        let replays = |of: fn(&Observation) -> &[Vec<Option<f64>>]| {
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
            untold: None,
        }
    }

    /// Returns the values before the change, in the shape of the replays: the machine's own, or the replays'.
    fn before(&self) -> Option<Vec<Vec<f64>>> {
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
fn foretold(before: &[Vec<f64>], baseline: &[Vec<f64>], changed: &[Vec<f64>]) -> Vec<Vec<f64>> {
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
fn differences(from: &[Vec<f64>], to: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let recordings = from.iter().zip(to);
    recordings.map(|(from, to)| from.iter().zip(to).map(|(from, to)| to - from).collect()).collect()
}

/// Returns the mean of each recording's replays.
fn means(recordings: &[Vec<f64>]) -> Vec<f64> {
    recordings.iter().map(|replays| mean(replays)).collect()
}

/// Returns how many times as large the larger of two numbers is.
fn times(one: f64, other: f64) -> f64 {
    let (least, most) = (one.min(other), one.max(other));
    if most <= 0.0 { 1.0 } else { most / least.max(0.0) }
}

/// Returns why a replay is not to be believed: it is too far from the machine as recorded. `None` if it is to be
/// believed.
fn is_too_far(before: &[Vec<f64>], baseline: &[Vec<f64>], changed: &[Vec<f64>]) -> Option<String> {
    let [machine, base, after] = [before, baseline, changed].map(|values| spread(values).mean);
    let off = times(machine, base);
    let is_noise = paired(&differences(before, baseline)).is_some_and(|off| !off.is_likely());
    let is_believed = off <= NEAR || is_noise || (off <= FAR && off <= times(base, after));
    (!is_believed).then(|| {
        let [base, machine] = [base, machine].map(number);
        format!("as recorded the replay has {base}, the machine {machine}")
    })
}

/// Returns why what came does not show the change: the sides differed before the first event, by more than a quarter of
/// what was foretold or came. `None` if it does.
fn differ_at_start(
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

/// Foretells one measure and, if there are recordings under the change, judges it by what `came`.
fn measure(name: String, unit: &'static str, series: &Series, held: Held<'_>) -> Measure {
    let came = held.values;
    let before = series.before();
    let is_events = subjects::EVENTS.contains(&unit);
    let before_spread = before.as_deref().map(spread);
    let own = series.own.as_deref();
    let (mut after, mut foretold_each, mut change) = (None, None, None);
    let mut why = match (&before, &series.baseline, &series.changed) {
        (Some(before), Some(baseline), Some(changed)) => {
            let too_far = || own.and_then(|_| is_too_far(before, baseline, changed));
            let why = series.untold.map(str::to_owned).or_else(too_far);
            if why.is_none() {
                let values = foretold(before, baseline, changed);
                after = Some(spread(&values));
                foretold_each = Some(means(&values));
                change = paired(&differences(before, &values));
                let [from, to] = [before, &values].map(|values| (spread(values).mean, values.len()));
                change = change.map(|change| if is_events { change.of_events(from, to) } else { change });
            }
            why
        }
        (_, None, _) => Some("the replay does not do this: it takes it from the trace".to_owned()),
        _ => Some("pageblocks have another size under the change".to_owned()),
    };
    let came_change = own.zip(came).and_then(|(own, came)| {
        let change = unpaired(own, came)?;
        let [from, to] = [own, came].map(|values| (mean(values), values.len()));
        Some(if is_events { change.of_events(from, to) } else { change })
    });
    if why.is_none() {
        why = differ_at_start(series, held.at_start, [change, came_change]);
    }
    if why.is_none() {
        why = held.otherwise.map(str::to_owned);
    }
    let verdict = held.there_are.then(|| judged(&mut why, own, came, change, came_change));
    let came_spread = came.map(|came| {
        let recordings: Vec<_> = came.iter().map(|&value| vec![value]).collect();
        spread(&recordings)
    });
    let mean_of = |spread: Option<Spread>| spread.map(|spread| spread.mean);
    let sd_of = |spread: Option<Spread>| spread.and_then(|spread| spread.sd);
    Measure {
        measure: name,
        unit,
        before: mean_of(before_spread),
        before_sd: sd_of(before_spread),
        foretold: mean_of(after),
        foretold_sd: sd_of(after),
        came: mean_of(came_spread),
        came_sd: sd_of(came_spread),
        verdict,
        before_is_recorded: own.is_some(),
        before_each: before.as_deref().map(means),
        foretold_each,
        came_each: came.map(<[f64]>::to_vec),
        foretold_noise: change.map(Difference::noise),
        came_noise: came_change.map(Difference::noise),
        why,
    }
}

/// Returns the verdict, and says in `why` what keeps the recordings from telling.
fn judged(
    why: &mut Option<String>,
    own: Option<&[f64]>,
    came: Option<&[f64]>,
    change: Option<Difference>,
    came_change: Option<Difference>,
) -> Verdict {
    if why.is_some() {
        return Verdict::CannotTell;
    }
    if let Some((foretold, came)) = change.zip(came_change) {
        let verdict = Verdict::new(foretold, came);
        if verdict == Verdict::CannotTell {
            let reason = if foretold.is_beyond_noise() {
                "the machine's own scatter is larger than the foretold change"
            } else {
                "what is foretold scatters by more than the change that came"
            };
            *why = Some(reason.to_owned());
        }
        return verdict;
    }
    let missing = match (own, came) {
        (None, _) => "the recordings before the change do not tell the machine's own",
        (_, None) => "the recordings under the change do not tell the machine's own",
        _ => "one recording has no scatter",
    };
    *why = Some(missing.to_owned());
    Verdict::CannotTell
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(own: Option<&[f64]>, baseline: &[f64], changed: &[f64]) -> Series {
        let one_replay = |values: &[f64]| Some(values.iter().map(|&value| vec![value]).collect());
        let (baseline, changed) = (one_replay(baseline), one_replay(changed));
        Series { at_start: None, own: own.map(<[_]>::to_vec), baseline, changed, untold: None }
    }

    fn judge(own: Option<&[f64]>, baseline: &[f64], changed: &[f64], came: &[f64]) -> Measure {
        let held = Held { there_are: true, values: (!came.is_empty()).then_some(came), ..Held::default() };
        measure("free".to_owned(), "pages", &series(own, baseline, changed), held)
    }

    #[test]
    fn what_differs_before_the_first_event_is_not_what_the_change_made() {
        let own = [118.0, 120.0, 121.0, 122.0];
        let judge = |at_start: [f64; 4]| {
            let series =
                Series { at_start: Some(vec![119.0, 120.0, 121.0, 121.0]), ..series(Some(&own), &own, &own) };
            let values = Some(&[66.0, 67.0, 68.0, 69.0][..]);
            let held = Held { there_are: true, values, at_start: Some(&at_start), otherwise: None };
            measure("free".to_owned(), "pages", &series, held)
        };
        let other_past = judge([69.0, 70.0, 71.0, 71.0]);
        assert_eq!(other_past.verdict, Some(Verdict::CannotTell));
        assert!(other_past.why.is_some_and(|why| why.contains("120 and 70")));
        assert_eq!(judge([119.0, 120.0, 121.0, 120.0]).verdict, Some(Verdict::Missed), "the same start");
        assert_eq!(
            judge([115.0, 114.0, 115.0, 116.0]).verdict,
            Some(Verdict::Missed),
            "a small part of what came"
        );
    }

    #[test]
    fn the_machines_own_changes_as_the_replay_does() {
        let own = [216.0, 220.0, 224.0];
        let of = judge(Some(&own), &[196.0, 200.0, 204.0], &[98.0, 100.0, 102.0], &[110.0, 120.0, 106.0]);
        let foretold = of.foretold.expect("foretold");
        assert!((foretold - 110.0).abs() < 1e-9, "{foretold}: half of 220, as the replay halves");
        assert_eq!((of.before, of.came, of.before_is_recorded), (Some(220.0), Some(112.0), true));
        assert_eq!((of.before_sd, of.foretold_sd), (Some(4.0), Some(2.0)));
        assert_eq!(of.verdict, Some(Verdict::Right), "{of:?}");
    }

    #[test]
    fn the_change_is_paired_by_recording() {
        let base = [100.0, 200.0, 300.0];
        let of = judge(None, &base, &[111.0, 210.0, 309.0], &[]);
        assert!((of.foretold.expect("foretold") - 210.0).abs() < 1e-9);
        assert!(of.is_foretold_to_change(), "10 ± 1 although recordings differ by 100: {of:?}");
        assert!(!of.before_is_recorded);
        assert_eq!(of.verdict, Some(Verdict::CannotTell), "nobody tells the machine's own");
        // The same changes, but of other recordings.
        let of = judge(None, &base, &[309.0, 210.0, 111.0], &[]);
        assert!(!of.is_foretold_to_change(), "{of:?}");
    }

    #[test]
    fn nothing_is_divided_by_nothing() {
        let of = judge(Some(&[0.0; 4]), &[0.0; 4], &[7.0, 9.0, 8.0, 8.0], &[8.0, 8.5, 8.0, 8.5]);
        assert_eq!((of.foretold, of.verdict), (Some(8.0), Some(Verdict::Right)));
        let of = judge(Some(&[0.0, 0.0]), &[0.0, 0.0], &[0.0, 0.0], &[0.0, 0.0]);
        assert_eq!((of.foretold, of.verdict), (Some(0.0), Some(Verdict::Quiet)));
    }

    #[test]
    fn a_replay_that_is_too_far_from_the_machine_is_not_believed() {
        let far = judge(Some(&[100.0, 101.0]), &[60.0, 61.0], &[50.0, 50.5], &[90.0, 91.0]);
        assert_eq!((far.foretold, far.verdict), (None, Some(Verdict::CannotTell)));
        assert_eq!(far.why.as_deref(), Some("as recorded the replay has 60.5, the machine 101"));
        // As far from the machine, but the change is larger than that.
        let large = judge(Some(&[100.0, 101.0]), &[60.0, 61.0], &[20.0, 20.5], &[33.0, 34.0]);
        assert_eq!(large.verdict, Some(Verdict::Right), "{large:?}");
        // More than twice as far: whatever it foretells.
        let wild = judge(Some(&[100.0, 101.0]), &[40.0, 41.0], &[1.0, 1.5], &[2.0, 2.5]);
        assert_eq!((wild.foretold, wild.verdict), (None, Some(Verdict::CannotTell)));
        let nothing = judge(Some(&[8.0, 9.0]), &[0.0, 0.0], &[0.0, 0.0], &[8.0, 9.0]);
        assert_eq!(
            nothing.verdict,
            Some(Verdict::CannotTell),
            "the replay does not see what the machine does"
        );
        // Far, but no further than the recordings scatter.
        let noisy = judge(Some(&[100.0, 10.0]), &[10.0, 60.0], &[10.0, 60.0], &[40.0, 60.0]);
        assert_eq!(noisy.verdict, Some(Verdict::Quiet), "{noisy:?}");
    }

    #[test]
    fn one_recording_foretells_without_a_verdict() {
        let of = judge(Some(&[100.0]), &[100.0], &[50.0], &[50.0, 51.0]);
        assert_eq!((of.foretold, of.foretold_sd, of.foretold_noise), (Some(50.0), None, None));
        assert_eq!((of.verdict, of.why.is_some()), (Some(Verdict::CannotTell), true));
        let came = judge(Some(&[100.0, 101.0]), &[100.0, 101.0], &[50.0, 51.0], &[50.0]);
        assert_eq!((came.verdict, came.came_sd), (Some(Verdict::CannotTell), None));
    }

    #[test]
    fn planted_errors_have_their_verdicts() {
        let (own, base) = ([100.0, 100.2, 100.4], [100.0, 100.2, 100.4]);
        for (changed, came, verdict) in [
            ([150.0, 150.2, 150.4], [150.0, 150.1, 150.3], Verdict::Right),
            ([150.0, 150.2, 150.4], [300.0, 300.1, 300.3], Verdict::Size),
            ([150.0, 150.2, 150.4], [50.0, 50.1, 50.3], Verdict::Direction),
            ([100.0, 100.2, 100.4], [150.0, 150.1, 150.3], Verdict::Missed),
            ([150.0, 150.2, 150.4], [100.0, 100.2, 100.45], Verdict::FalseAlarm),
            ([100.0, 100.2, 100.4], [100.0, 100.2, 100.45], Verdict::Quiet),
            ([100.2, 100.4, 100.61], [100.0, 100.2, 100.45], Verdict::CannotTell),
        ] {
            let of = judge(Some(&own), &base, &changed, &came);
            assert_eq!(of.verdict, Some(verdict), "{of:?}");
            assert_eq!(of.why.is_some(), verdict == Verdict::CannotTell);
        }
    }

    #[test]
    fn where_the_requests_differ_nothing_is_told() {
        let own = [100.0, 100.2, 100.4];
        let held = Held {
            there_are: true,
            values: Some(&[150.0, 150.1, 150.3]),
            otherwise: Some("the machine asked otherwise"),
            ..Held::default()
        };
        let of =
            measure("refills".to_owned(), "refills", &series(Some(&own), &own, &[150.0, 150.2, 150.4]), held);
        assert_eq!((of.verdict, of.foretold.is_some()), (Some(Verdict::CannotTell), true));
        assert_eq!(of.why.as_deref(), Some("the machine asked otherwise"));
    }

    #[test]
    fn what_no_era_has_is_not_foretold_although_replays_have_it() {
        let own = [5.0, 6.0];
        let of = Series { untold: Some("no era has this"), ..series(Some(&own), &own, &[9.0, 9.5]) };
        let held = Held { there_are: true, values: Some(&[9.0, 9.5]), ..Held::default() };
        let of = measure("reclaimed".to_owned(), "pages", &of, held);
        assert_eq!((of.foretold, of.verdict), (None, Some(Verdict::CannotTell)));
        assert_eq!(of.why.as_deref(), Some("no era has this"));
    }

    #[test]
    fn what_no_replay_does_cannot_be_told() {
        let own = Series { baseline: None, changed: None, ..series(Some(&[5.0, 6.0]), &[], &[]) };
        let held = Held { there_are: true, values: Some(&[9.0, 9.5]), ..Held::default() };
        let of = measure("scanned".to_owned(), "pages", &own, held);
        assert_eq!((of.before, of.foretold, of.came), (Some(5.5), None, Some(9.25)));
        assert_eq!(of.verdict, Some(Verdict::CannotTell));
    }
}
