//! Summarises many samples in a few numbers.

use serde::Serialize;

/// The summary of one side's samples.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Summary {
    /// The number of samples.
    pub samples: usize,
    /// The smallest.
    pub min: f64,
    /// Half of the samples are at most this.
    pub median: f64,
    /// 99 % of the samples are at most this.
    pub p99: f64,
    /// The largest.
    pub max: f64,
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub stddev: f64,
    /// Half of the interquartile range in percent of the median.
    pub spread_percent: f64,
}

impl Summary {
    /// Summarises `samples`; all numbers are 0 if there are none.
    pub fn of(samples: &[f64]) -> Self {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (Some(&min), Some(&max)) = (sorted.first(), sorted.last()) else { return Self::default() };
        let count = sorted.len() as f64;
        let mean = sorted.iter().sum::<f64>() / count;
        let variance = sorted.iter().map(|sample| (sample - mean).powi(2)).sum::<f64>() / count;
        let median = quantile(&sorted, 0.5);
        let quartiles = quantile(&sorted, 0.75) - quantile(&sorted, 0.25);
        Self {
            samples: sorted.len(),
            min,
            median,
            p99: quantile(&sorted, 0.99),
            max,
            mean,
            stddev: variance.sqrt(),
            spread_percent: if median == 0.0 { 0.0 } else { quartiles / 2.0 / median.abs() * 100.0 },
        }
    }
}

/// Returns the median of how many percent each sample exceeds the base sample of the same round.
pub(crate) fn percent_over(samples: &[f64], base: &[f64]) -> f64 {
    let percents: Vec<f64> =
        samples.iter().zip(base).map(|(with, without)| (with / without - 1.0) * 100.0).collect();
    Summary::of(&percents).median
}

/// Returns the quantile at `share`, interpolated between neighbours.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let below = place.floor() as usize;
    let above = place.ceil() as usize;
    sorted[below] + (sorted[above] - sorted[below]) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_summarised() {
        let summary = Summary::of(&[4.0, 1.0, 3.0, 2.0, 5.0]);
        assert_eq!((summary.min, summary.median, summary.max, summary.mean), (1.0, 3.0, 5.0, 3.0));
        assert!((summary.stddev - 2.0_f64.sqrt()).abs() < 1e-12);
        assert!((summary.spread_percent - 100.0 / 3.0).abs() < 1e-9);
        assert!((summary.p99 - 4.96).abs() < 1e-9);
        assert_eq!(Summary::of(&[]), Summary::default());
    }

    #[test]
    fn percent_over_compares_samples_of_the_same_round() {
        assert!((percent_over(&[11.0, 22.0, 90.0], &[10.0, 20.0, 30.0]) - 10.0).abs() < 1e-9);
    }
}
