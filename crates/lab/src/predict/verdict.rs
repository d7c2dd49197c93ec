//! The comparison of a predicted with an observed change.

use serde::{Deserialize, Serialize};

use super::noise::MeanDifference;

/// The accepted error of a predicted difference, as a share of the observed one.
const SIZE: f64 = 0.25;

/// The comparison of the predicted with the observed change of a measure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PredictionVerdict {
    /// Direction and size are right.
    Right,
    /// The direction is right, the size is not.
    Size,
    /// The direction is wrong.
    Direction,
    /// A change was observed, and none was predicted.
    Missed,
    /// A change was predicted, and none was observed.
    FalseAlarm,
    /// No change was predicted, and none was observed.
    Quiet,
    /// The recordings do not allow a decision.
    Undecided,
}

impl PredictionVerdict {
    /// All verdicts, the best first.
    pub const ALL: [Self; 7] = [
        Self::Right,
        Self::Size,
        Self::Direction,
        Self::Missed,
        Self::FalseAlarm,
        Self::Quiet,
        Self::Undecided,
    ];

    /// Returns the name, as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Size => "size",
            Self::Direction => "direction",
            Self::Missed => "missed",
            Self::FalseAlarm => "false-alarm",
            Self::Quiet => "quiet",
            Self::Undecided => "undecided",
        }
    }

    /// Compares a predicted with an observed difference. A difference within its noise counts as no change.
    ///
    /// If one of the differences is within its noise, and the other is smaller than that noise, the verdict is
    /// [`Self::Undecided`]: the recordings could not have shown the change.
    pub(super) fn new(predicted: MeanDifference, observed: MeanDifference) -> Self {
        match (predicted.is_beyond_noise(), observed.is_beyond_noise()) {
            (false, false) => Self::Quiet,
            (false, true) if observed.mean.abs() > predicted.noise() => Self::Missed,
            (true, false) if predicted.mean.abs() > observed.noise() => Self::FalseAlarm,
            (false, true) | (true, false) => Self::Undecided,
            (true, true) if (predicted.mean < 0.0) != (observed.mean < 0.0) => Self::Direction,
            (true, true) => {
                let off = (predicted.mean - observed.mean).abs();
                let uncertainty = predicted.noise().hypot(observed.noise());
                if off <= uncertainty.max(SIZE * observed.mean.abs()) { Self::Right } else { Self::Size }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each line: the predicted difference and its standard error, the observed one and its standard error, the
    /// verdict.
    const TABLE: &[(f64, f64, f64, f64, PredictionVerdict)] = &[
        (10.0, 1.0, 10.0, 1.0, PredictionVerdict::Right),
        (-40.0, 2.0, -36.0, 2.0, PredictionVerdict::Right),
        // Within 25 % of the observed difference, although beyond the uncertainty; then just outside.
        (125.0, 0.1, 100.0, 0.1, PredictionVerdict::Right),
        (126.0, 0.1, 100.0, 0.1, PredictionVerdict::Size),
        (-75.0, 0.1, -100.0, 0.1, PredictionVerdict::Right),
        (-74.0, 0.1, -100.0, 0.1, PredictionVerdict::Size),
        // Twice the observed difference, within the uncertainty of both together; then outside.
        (40.0, 9.0, 20.0, 6.0, PredictionVerdict::Right),
        (40.0, 6.0, 20.0, 6.0, PredictionVerdict::Size),
        (10.0, 1.0, -10.0, 1.0, PredictionVerdict::Direction),
        (-10.0, 1.0, 10.0, 4.0, PredictionVerdict::Direction),
        (1.0, 1.0, 10.0, 1.0, PredictionVerdict::Missed),
        (0.0, 0.0, 10.0, 1.0, PredictionVerdict::Missed),
        (1.0, 4.0, 10.0, 1.0, PredictionVerdict::Missed),
        // A large prediction within a large noise: neither a change nor its absence is predicted.
        (10.0, 6.0, 10.0, 1.0, PredictionVerdict::Undecided),
        (10.0, 1.0, 0.0, 1.0, PredictionVerdict::FalseAlarm),
        (10.0, 1.0, 1.0, 1.0, PredictionVerdict::FalseAlarm),
        // The noise of the observation exceeds the prediction.
        (10.0, 1.0, 1.0, 8.0, PredictionVerdict::Undecided),
        (1.0, 1.0, 1.0, 1.0, PredictionVerdict::Quiet),
        (0.0, 0.0, 0.0, 0.0, PredictionVerdict::Quiet),
    ];

    #[test]
    fn every_verdict_is_reached() {
        for &(predicted, predicted_error, observed, observed_error, verdict) in TABLE {
            let [predicted, observed] = [(predicted, predicted_error), (observed, observed_error)]
                .map(|(mean, error)| difference(mean, error));
            assert_eq!(PredictionVerdict::new(predicted, observed), verdict, "{predicted:?} {observed:?}");
            // The same with reversed signs.
            let mirrored = |of: MeanDifference| MeanDifference { mean: -of.mean, ..of };
            assert_eq!(
                PredictionVerdict::new(mirrored(predicted), mirrored(observed)),
                verdict,
                "{predicted:?} {observed:?}"
            );
        }
        for verdict in PredictionVerdict::ALL {
            assert!(TABLE.iter().any(|line| line.4 == verdict), "{verdict:?} is not reached");
        }
    }

    /// Returns a difference whose noise is twice `error`.
    fn difference(mean: f64, error: f64) -> MeanDifference {
        MeanDifference { mean, error: error * 2.0 / 2.576, freedom: 1e9 }
    }

    #[test]
    fn planted_errors_are_detected() {
        let [observed, right] = [difference(50.0, 2.0), difference(48.0, 2.0)];
        assert_eq!(PredictionVerdict::new(right, observed), PredictionVerdict::Right);
        let turned = MeanDifference { mean: -right.mean, ..right };
        assert_eq!(PredictionVerdict::new(turned, observed), PredictionVerdict::Direction);
        let tripled = MeanDifference { mean: 3.0 * right.mean, ..right };
        assert_eq!(PredictionVerdict::new(tripled, observed), PredictionVerdict::Size);
        let forgotten = MeanDifference { mean: 0.0, ..right };
        assert_eq!(PredictionVerdict::new(forgotten, observed), PredictionVerdict::Missed);
        assert_eq!(PredictionVerdict::new(observed, forgotten), PredictionVerdict::FalseAlarm);
    }

    #[test]
    fn names_match_the_json() {
        for verdict in PredictionVerdict::ALL {
            assert_eq!(serde_json::to_value(verdict).expect("JSON"), verdict.name());
        }
    }
}
