//! The forecast of a request.

use serde::Serialize;

use super::curve::Curve;
use super::inputs::ForecastInputs;
use super::requester::Requester;

/// How many blocks a request will get, as a distribution.
///
/// `docs/evidence/calibration.md` compares it with requests to real kernels.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Forecast {
    /// Who requests the blocks.
    pub by: Requester,
    /// The probability that all requested blocks come.
    pub probability: f64,
    /// The blocks that come with a probability of 90 %.
    pub at_90: u64,
    /// The same with 50 %.
    pub at_50: u64,
    /// The same with 10 %.
    pub at_10: u64,
    /// What it is made from.
    pub inputs: ForecastInputs,
}

impl Forecast {
    /// Returns the forecast for a request for `blocks`.
    pub fn new(by: Requester, inputs: ForecastInputs, blocks: u64) -> Self {
        let curve = Curve::new(by, &inputs);
        let [at_90, at_50, at_10] = [0.9, 0.5, 0.1].map(|probability| curve.blocks_at(probability));
        Self { by, probability: curve.probability(blocks), at_90, at_50, at_10, inputs }
    }

    /// Returns the blocks that come, such as `520 (480 to 560)`: those with 50 %, and those with 90 % and 10 %.
    pub(in crate::verdict) fn range(&self) -> String {
        if self.at_90 == self.at_10 {
            return self.at_50.to_string();
        }
        format!("{} ({} to {})", self.at_50, self.at_90, self.at_10)
    }

    /// Returns the probability in words, such as `84 % likely`.
    pub(in crate::verdict) fn words(&self) -> String {
        likely(self.probability)
    }
}

/// Returns a probability in words, such as `84 % likely`. It is never rounded up to 10 or 90 %, where verdicts change.
pub(in crate::verdict) fn likely(probability: f64) -> String {
    let below = if probability < 0.1 {
        9.0
    } else if probability < 0.9 {
        89.0
    } else {
        100.0
    };
    match (probability * 100.0).round().min(below) {
        percent if percent < 1.0 => "less than 1 % likely".to_owned(),
        percent if percent > 99.0 => "more than 99 % likely".to_owned(),
        percent => format!("{percent} % likely"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probability_is_never_said_to_be_certain() {
        let words = |probability| {
            let inputs = ForecastInputs::default();
            Forecast { probability, ..Forecast::new(Requester::Hugetlb, inputs, 1) }.words()
        };
        assert_eq!(words(0.844), "84 % likely");
        assert_eq!([0.899, 0.9, 0.099].map(words), ["89 % likely", "90 % likely", "9 % likely"]);
        assert_eq!(words(0.0), "less than 1 % likely");
        assert_eq!(words(1.0), "more than 99 % likely");
    }
}
