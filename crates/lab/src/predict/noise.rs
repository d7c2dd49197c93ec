//! Means and standard deviations of several recordings, and the noise of their differences.
//!
//! Each recording has one value or, if it is replayed several times, one value for each replay. The variance between
//! replays and the variance between recordings are combined into one standard deviation.

/// The quantiles of Student's t distribution at 99.5 %, for one degree of freedom and up. A screen has about forty
/// measures. If two sides do not differ, one of a hundred differences may exceed its noise.
const QUANTILES: [f64; 10] = [63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169];

/// The quantile of the normal distribution at 99.5 %.
const NORMAL: f64 = 2.576;

/// A mean and its standard deviation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Spread {
    /// The mean over all recordings.
    pub(super) mean: f64,
    /// The standard deviation of a single recording and replay; `None` for one recording.
    pub(super) sd: Option<f64>,
}

/// The mean of a difference.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MeanDifference {
    /// The mean.
    pub mean: f64,
    /// The standard error of the mean.
    pub error: f64,
    /// The degrees of freedom of the standard error.
    pub freedom: f64,
}

impl MeanDifference {
    /// Returns the noise: half of the 99 % confidence interval.
    pub fn noise(self) -> f64 {
        quantile(self.freedom) * self.error
    }

    /// Returns true if the difference exceeds two standard errors. Equal sides exceed them in one of twenty cases.
    pub(super) fn is_likely(self) -> bool {
        self.mean.abs() > 2.0 * self.error
    }

    /// Returns true if the difference exceeds the noise.
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
        // The first terms of the expansion around the normal distribution.
        let [third, fifth, seventh] = [3, 5, 7].map(|power| NORMAL.powi(power));
        let terms = [
            (third + NORMAL) / 4.0,
            (5.0 * fifth + 16.0 * third + 3.0 * NORMAL) / 96.0,
            (3.0 * seventh + 19.0 * fifth + 17.0 * third - 15.0 * NORMAL) / 384.0,
        ];
        terms.iter().rev().fold(0.0, |sum, term| (sum + term) / whole) + NORMAL
    }
}

/// Returns the mean of some values; 0 without values.
pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Returns the variance of a sample; 0 for fewer than two values.
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

/// Returns the mean and standard deviation of several recordings.
pub(super) fn spread(recordings: &[Vec<f64>]) -> Spread {
    let means: Vec<_> = recordings.iter().map(|values| mean(values)).collect();
    let (between, replicates, replays) = parts(recordings);
    // The variance between the means already contains a part of the variance between replays.
    let sd = (between + replicates * (1.0 - 1.0 / replays)).sqrt();
    Spread { mean: mean(&means), sd: (recordings.len() > 1).then_some(sd) }
}

/// Returns the mean of paired differences, one for each replay of each recording. `None` for fewer than two
/// recordings, whose standard deviation is unknown.
pub(super) fn paired(differences: &[Vec<f64>]) -> Option<MeanDifference> {
    if differences.len() < 2 {
        return None;
    }
    let (between, replicates, replays) = parts(differences);
    let variance = between.max(replicates / replays);
    let count = differences.len() as f64;
    Some(MeanDifference {
        mean: spread(differences).mean,
        error: (variance / count).sqrt(),
        freedom: count - 1.0,
    })
}

impl MeanDifference {
    /// Returns the difference with at least the variance of a Poisson process, which equals its mean. Otherwise a few
    /// recordings with one event each would differ significantly from recordings with none.
    pub(super) fn of_events(self, before: (f64, usize), after: (f64, usize)) -> Self {
        let part = |(mean, recordings): (f64, usize)| mean.max(0.0) / recordings.max(1) as f64;
        Self { error: self.error.max((part(before) + part(after)).sqrt()), ..self }
    }
}

/// Returns the difference of the means of `after` and `before`; `None` if a side has fewer than two values. The sides
/// may have different variances (Welch's test).
pub fn unpaired(before: &[f64], after: &[f64]) -> Option<MeanDifference> {
    if before.len().min(after.len()) < 2 {
        return None;
    }
    let [one, other] = [before, after].map(|values| variance(values) / values.len() as f64);
    let [less_one, less_other] = [before, after].map(|values| values.len() as f64 - 1.0);
    let error = (one + other).sqrt();
    let known = one.powi(2) / less_one + other.powi(2) / less_other;
    let freedom = if known > 0.0 { (one + other).powi(2) / known } else { less_one + less_other };
    Some(MeanDifference { mean: mean(after) - mean(before), error, freedom })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn variances_of_recordings_and_replicates_add_up() {
        // The means of the recordings are 2 and 6: variance 8. Within a recording, the variance is 2. The means of two
        // replays already contain half of it.
        let spread_of_both = spread(&[vec![1.0, 3.0], vec![5.0, 7.0]]);
        assert!(close(spread_of_both.mean, 4.0));
        assert!(close(spread_of_both.sd.expect("two recordings"), 9.0_f64.sqrt()));
        let one = spread(&[vec![1.0, 3.0]]);
        assert_eq!((one.mean, one.sd), (2.0, None), "one recording has no standard deviation");
        assert_eq!(spread(&[vec![3.0], vec![3.0]]).sd, Some(0.0));
    }

    #[test]
    fn pairing_removes_the_variance_between_recordings() {
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
    fn quantiles_match_published_tables() {
        for (freedom, expected) in
            [(1.0, 63.657), (4.0, 4.604), (8.9, 3.355), (12.0, 3.055), (30.0, 2.750), (1e6, 2.576)]
        {
            assert!((quantile(freedom) - expected).abs() < 0.005, "{freedom}: {}", quantile(freedom));
        }
    }

    /// If two sides do not differ, about one difference of a hundred exceeds its noise.
    #[test]
    fn one_percent_of_random_differences_exceed_their_noise() {
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
    fn variance_of_replicates_is_a_lower_bound_of_the_error() {
        // Both means are 5 by coincidence; the replays of each recording differ by 50.
        let lucky = paired(&[vec![-20.0, 30.0], vec![30.0, -20.0]]).expect("two recordings");
        assert!(close(lucky.error, (1250.0_f64 / 2.0 / 2.0).sqrt()), "{lucky:?}");
        assert!(!lucky.is_beyond_noise());
    }

    #[test]
    fn one_event_in_each_recording_is_within_noise_of_none() {
        let same = |value: f64| [value; 5];
        let differs = |before: f64, after: f64| {
            let difference = unpaired(&same(before), &same(after)).expect("five a side");
            assert!(difference.is_beyond_noise(), "without the variance of a Poisson process");
            difference.of_events((before, 5), (after, 5)).is_beyond_noise()
        };
        assert!(!differs(0.0, 1.0) && !differs(1.0, 0.0) && !differs(3.0, 1.0));
        assert!(differs(0.0, 4.0) && differs(100.0, 140.0));
    }

    #[test]
    fn noise_is_half_of_the_confidence_interval() {
        let difference = |mean| MeanDifference { mean, error: 2.0, freedom: 8.0 };
        assert!(close(difference(0.0).noise(), 6.71));
        assert!(!difference(6.7).is_beyond_noise() && !difference(-6.7).is_beyond_noise());
        assert!(difference(6.8).is_beyond_noise() && difference(-6.8).is_beyond_noise());
        let nothing = MeanDifference { mean: 0.0, error: 0.0, freedom: 4.0 };
        assert!(!nothing.is_beyond_noise(), "equal values do not differ");
        assert_eq!((paired(&[vec![1.0]]), unpaired(&[1.0], &[1.0, 2.0])), (None, None));
    }
}
