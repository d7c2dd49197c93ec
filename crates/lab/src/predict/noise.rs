//! Means of several recordings, their scatter, and which differences exceed it.
//!
//! Each recording has one value or, where it is replayed several times, one of each replay. Chance of the replay and
//! scatter of the recordings go into one standard deviation.

/// The quantiles of Student's t distribution at 99.5 %, for one degree of freedom and up: a screen has some forty measures, and
/// of a hundred differences by chance alone one shall exceed its noise.
const QUANTILES: [f64; 10] = [63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169];

/// The quantile of the normal distribution at 99.5 %.
const NORMAL: f64 = 2.576;

/// A mean and its scatter.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Spread {
    /// The mean over all recordings.
    pub(super) mean: f64,
    /// The standard deviation of a single recording and replay; `None` for one recording.
    pub(super) sd: Option<f64>,
}

/// The mean of a difference.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Difference {
    /// The mean.
    pub mean: f64,
    /// The standard error of the mean.
    pub error: f64,
    /// The degrees of freedom by which the standard error is known.
    pub freedom: f64,
}

impl Difference {
    /// Returns the largest difference that is still noise: half of the 99 % confidence interval.
    pub fn noise(self) -> f64 {
        quantile(self.freedom) * self.error
    }

    /// Returns true if the difference is more than two standard errors. Chance alone makes one of twenty so.
    pub(super) fn is_likely(self) -> bool {
        self.mean.abs() > 2.0 * self.error
    }

    /// Returns true if the difference is more than noise.
    pub fn is_beyond_noise(self) -> bool {
        self.mean.abs() > self.noise()
    }
}

/// Returns the quantile of Student's t distribution at 99.5 %.
fn quantile(freedom: f64) -> f64 {
    let whole = freedom.max(1.0).floor();
    if let Some(quantile) = QUANTILES.get(whole as usize - 1) {
        *quantile
    } else {
        // The first terms of its expansion about the normal distribution.
        let [third, fifth, seventh] = [3, 5, 7].map(|power| NORMAL.powi(power));
        let terms = [
            (third + NORMAL) / 4.0,
            (5.0 * fifth + 16.0 * third + 3.0 * NORMAL) / 96.0,
            (3.0 * seventh + 19.0 * fifth + 17.0 * third - 15.0 * NORMAL) / 384.0,
        ];
        terms.iter().rev().fold(0.0, |sum, term| (sum + term) / whole) + NORMAL
    }
}

/// Returns the mean of some values; 0 of none.
pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Returns the variance of a sample; 0 of fewer than two values.
fn variance(values: &[f64]) -> f64 {
    let middle = mean(values);
    let squares: f64 = values.iter().map(|value| (value - middle).powi(2)).sum();
    squares / (values.len() as f64 - 1.0).max(1.0)
}

/// Returns the variance of the recordings' means, the mean variance within a recording, and the number of replays.
fn parts(recordings: &[Vec<f64>]) -> (f64, f64, f64) {
    let means: Vec<_> = recordings.iter().map(|values| mean(values)).collect();
    let within: Vec<_> = recordings.iter().map(|values| variance(values)).collect();
    let replays = recordings.iter().map(Vec::len).min().unwrap_or(1).max(1);
    (variance(&means), mean(&within), replays as f64)
}

/// Returns the mean and the scatter of several recordings.
pub(super) fn spread(recordings: &[Vec<f64>]) -> Spread {
    let means: Vec<_> = recordings.iter().map(|values| mean(values)).collect();
    let (between, replicates, replays) = parts(recordings);
    // The means have a part of the chance already: what several replays leave of it.
    let sd = (between + replicates * (1.0 - 1.0 / replays)).sqrt();
    Spread { mean: mean(&means), sd: (recordings.len() > 1).then_some(sd) }
}

/// Returns the mean of paired differences: one for each replay of each recording. `None` for fewer than two
/// recordings, whose scatter is not known.
pub(super) fn paired(differences: &[Vec<f64>]) -> Option<Difference> {
    if differences.len() < 2 {
        return None;
    }
    let (between, replicates, replays) = parts(differences);
    let variance = between.max(replicates / replays);
    let count = differences.len() as f64;
    Some(Difference {
        mean: spread(differences).mean,
        error: (variance / count).sqrt(),
        freedom: count - 1.0,
    })
}

impl Difference {
    /// Returns the difference with the scatter that numbers of events have at the least: that of a Poisson process, whose variance
    /// is its mean. Without it a few recordings that all have one event, where others have none, would tell a difference.
    pub(super) fn of_events(self, before: (f64, usize), after: (f64, usize)) -> Self {
        let part = |(mean, recordings): (f64, usize)| mean.max(0.0) / recordings.max(1) as f64;
        Self { error: self.error.max((part(before) + part(after)).sqrt()), ..self }
    }
}

/// Returns how much more recordings have `after` than others had `before`; `None` for fewer than two on a side. The sides
/// may scatter differently (Welch's test).
pub fn unpaired(before: &[f64], after: &[f64]) -> Option<Difference> {
    if before.len().min(after.len()) < 2 {
        return None;
    }
    let [one, other] = [before, after].map(|values| variance(values) / values.len() as f64);
    let [less_one, less_other] = [before, after].map(|values| values.len() as f64 - 1.0);
    let error = (one + other).sqrt();
    let known = one.powi(2) / less_one + other.powi(2) / less_other;
    let freedom = if known > 0.0 { (one + other).powi(2) / known } else { less_one + less_other };
    Some(Difference { mean: mean(after) - mean(before), error, freedom })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn the_scatter_of_recordings_and_chance_add_up() {
        // The recordings' means are 2 and 6: variance 8. Each replay varies by 2 around them; of that variance the
        // means of two replays still have half.
        let spread_of_both = spread(&[vec![1.0, 3.0], vec![5.0, 7.0]]);
        assert!(close(spread_of_both.mean, 4.0));
        assert!(close(spread_of_both.sd.expect("two recordings"), 9.0_f64.sqrt()));
        let one = spread(&[vec![1.0, 3.0]]);
        assert_eq!((one.mean, one.sd), (2.0, None), "one recording has no scatter");
        assert_eq!(spread(&[vec![3.0], vec![3.0]]).sd, Some(0.0));
    }

    #[test]
    fn pairing_takes_out_what_recordings_have_in_common() {
        // The recordings are far apart, and each changes by about 10.
        let (before, after) = ([100.0, 200.0, 300.0], [109.0, 210.0, 311.0]);
        let differences: Vec<_> =
            before.iter().zip(after).map(|(before, after)| vec![after - before]).collect();
        let with_pairs = paired(&differences).expect("three recordings");
        assert!(close(with_pairs.mean, 10.0) && close(with_pairs.error, (1.0_f64 / 3.0).sqrt()));
        assert!(with_pairs.is_beyond_noise());
        let without = unpaired(&before, &after).expect("three recordings");
        assert!(close(without.mean, 10.0) && !without.is_beyond_noise());
    }

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (freedom, expected) in
            [(1.0, 63.657), (4.0, 4.604), (8.9, 3.355), (12.0, 3.055), (30.0, 2.750), (1e6, 2.576)]
        {
            assert!((quantile(freedom) - expected).abs() < 0.005, "{freedom}: {}", quantile(freedom));
        }
    }

    /// Of differences between sides that do not differ, about one in a hundred exceeds its noise.
    #[test]
    fn one_in_a_hundred_differences_by_chance_exceeds_its_noise() {
        let mut state = 20_u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        // The sum of twelve is close to normal.
        let mut value = || (0..12).map(|_| uniform()).sum::<f64>();
        let mut found = 0;
        for _ in 0..4000 {
            let [before, after] = [(); 2].map(|()| [(); 5].map(|()| value()));
            found += u32::from(unpaired(&before, &after).expect("five a side").is_beyond_noise());
        }
        assert!((16..=64).contains(&found), "{found} of 4000");
    }

    #[test]
    fn chance_is_a_lower_bound_of_the_error() {
        // Both means happen to be 5, the replays of each scatter by 50.
        let lucky = paired(&[vec![-20.0, 30.0], vec![30.0, -20.0]]).expect("two recordings");
        assert!(close(lucky.error, (1250.0_f64 / 2.0 / 2.0).sqrt()), "{lucky:?}");
        assert!(!lucky.is_beyond_noise());
    }

    #[test]
    fn one_event_in_each_recording_is_no_difference_from_none() {
        let same = |value: f64| [value; 5];
        let tells = |before: f64, after: f64| {
            let difference = unpaired(&same(before), &same(after)).expect("five a side");
            assert!(difference.is_beyond_noise(), "by their scatter");
            difference.of_events((before, 5), (after, 5)).is_beyond_noise()
        };
        assert!(!tells(0.0, 1.0) && !tells(1.0, 0.0) && !tells(3.0, 1.0));
        assert!(tells(0.0, 4.0) && tells(100.0, 140.0));
    }

    #[test]
    fn noise_is_half_of_the_interval() {
        let difference = |mean| Difference { mean, error: 2.0, freedom: 8.0 };
        assert!(close(difference(0.0).noise(), 6.71));
        assert!(!difference(6.7).is_beyond_noise() && !difference(-6.7).is_beyond_noise());
        assert!(difference(6.8).is_beyond_noise() && difference(-6.8).is_beyond_noise());
        let nothing = Difference { mean: 0.0, error: 0.0, freedom: 4.0 };
        assert!(!nothing.is_beyond_noise(), "no difference is none");
        assert_eq!((paired(&[vec![1.0]]), unpaired(&[1.0], &[1.0, 2.0])), (None, None));
    }
}
