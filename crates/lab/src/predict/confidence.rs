//! How wide an interval about a mean of few values is.

use super::noise::{mean, variance};

/// How often an interval holds the mean that it is about, whatever the values were by chance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Confidence {
    /// 19 times of 20.
    Percent95,
    /// 99 times of 100.
    Percent99,
}

impl Confidence {
    /// Returns the quantiles of Student's t distribution, for one degree of freedom and up, and the normal distribution's.
    const fn quantiles(self) -> ([f64; 10], f64) {
        match self {
            Self::Percent95 => {
                ([12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228], 1.960)
            }
            Self::Percent99 => {
                ([63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169], 2.576)
            }
        }
    }

    /// Returns the number of standard errors from the mean to either end of the interval. Less than one degree of freedom
    /// counts as one.
    pub fn quantile(self, freedom: f64) -> f64 {
        let (few, normal) = self.quantiles();
        let whole = freedom.max(1.0).floor();
        if let Some(quantile) = few.get(whole as usize - 1) {
            *quantile
        } else {
            // The first terms of its expansion about the normal distribution.
            let [third, fifth, seventh] = [3, 5, 7].map(|power| normal.powi(power));
            let terms = [
                (third + normal) / 4.0,
                (5.0 * fifth + 16.0 * third + 3.0 * normal) / 96.0,
                (3.0 * seventh + 19.0 * fifth + 17.0 * third - 15.0 * normal) / 384.0,
            ];
            terms.iter().rev().fold(0.0, |sum, term| (sum + term) / whole) + normal
        }
    }

    /// Returns the mean of some values, and half of the interval about it; no interval of fewer than two, nothing of none.
    pub fn of_mean(self, values: &[f64]) -> Option<(f64, Option<f64>)> {
        let count = values.len() as f64;
        if values.is_empty() {
            return None;
        }
        let error = (variance(values) / count).sqrt();
        let half = (values.len() > 1).then(|| self.quantile(count - 1.0) * error);
        Some((mean(values), half))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        let known = [
            (
                Confidence::Percent95,
                [(1.0, 12.706), (4.0, 2.776), (12.0, 2.179), (30.0, 2.042), (1e6, 1.960)],
            ),
            (
                Confidence::Percent99,
                [(1.0, 63.657), (8.9, 3.355), (12.0, 3.055), (30.0, 2.750), (1e6, 2.576)],
            ),
        ];
        for (confidence, quantiles) in known {
            for (freedom, expected) in quantiles {
                let found = confidence.quantile(freedom);
                assert!((found - expected).abs() < 0.005, "{confidence:?}, {freedom}: {found}");
            }
        }
    }

    #[test]
    fn an_interval_needs_two_values() {
        let of = |values: &[f64]| Confidence::Percent95.of_mean(values);
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[3.0]), Some((3.0, None)));
        let (mean, half) = of(&[1.0, 2.0, 3.0]).expect("three values");
        let half = half.expect("more than one");
        assert!(
            (mean - 2.0).abs() < 1e-12 && (half - 4.303 / 3.0_f64.sqrt()).abs() < 1e-9,
            "{mean} ± {half}"
        );
    }
}
