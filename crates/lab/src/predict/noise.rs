//! Means of several recordings, their scatter, and which differences exceed it.
//!
//! Each recording has one value or, where it is replayed several times, one of each replay. Chance of the replay and
//! scatter of the recordings go into one standard deviation.

/// The standard errors that a difference must exceed to be more than noise.
pub(super) const NOISE: f64 = 2.0;

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
pub(super) struct Difference {
    pub(super) mean: f64,
    /// The standard error of the mean.
    pub(super) error: f64,
}

impl Difference {
    /// Returns the largest difference that is still noise.
    pub(super) fn noise(self) -> f64 {
        NOISE * self.error
    }

    /// Returns true if the difference is more than noise.
    pub(super) fn is_beyond_noise(self) -> bool {
        self.mean.abs() > self.noise()
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
    let (between, chance, replays) = parts(recordings);
    // The means have a part of the chance already: what several replays leave of it.
    let sd = (between + chance * (1.0 - 1.0 / replays)).sqrt();
    Spread { mean: mean(&means), sd: (recordings.len() > 1).then_some(sd) }
}

/// Returns the mean of paired differences: one for each replay of each recording. `None` for fewer than two
/// recordings, whose scatter is not known.
pub(super) fn paired(differences: &[Vec<f64>]) -> Option<Difference> {
    if differences.len() < 2 {
        return None;
    }
    let (between, chance, replays) = parts(differences);
    let variance = between.max(chance / replays);
    let error = (variance / differences.len() as f64).sqrt();
    Some(Difference { mean: spread(differences).mean, error })
}

/// Returns how much more recordings have `after` than others had `before`; `None` for fewer than two on a side.
pub(super) fn unpaired(before: &[f64], after: &[f64]) -> Option<Difference> {
    if before.len().min(after.len()) < 2 {
        return None;
    }
    let squared = |values: &[f64]| variance(values) / values.len() as f64;
    let error = (squared(before) + squared(after)).sqrt();
    Some(Difference { mean: mean(after) - mean(before), error })
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
    fn chance_is_a_lower_bound_of_the_error() {
        // Both means happen to be 5, the replays of each scatter by 50.
        let lucky = paired(&[vec![-20.0, 30.0], vec![30.0, -20.0]]).expect("two recordings");
        assert!(close(lucky.error, (1250.0_f64 / 2.0 / 2.0).sqrt()), "{lucky:?}");
        assert!(!lucky.is_beyond_noise());
    }

    #[test]
    fn noise_is_two_standard_errors() {
        let difference = |mean| Difference { mean, error: 1.5 };
        assert!(close(difference(0.0).noise(), 3.0));
        assert!(!difference(3.0).is_beyond_noise() && !difference(-3.0).is_beyond_noise());
        assert!(difference(3.1).is_beyond_noise() && difference(-3.1).is_beyond_noise());
        assert!(!Difference { mean: 0.0, error: 0.0 }.is_beyond_noise(), "no difference is none");
        assert_eq!((paired(&[vec![1.0]]), unpaired(&[1.0], &[1.0, 2.0])), (None, None));
    }
}
