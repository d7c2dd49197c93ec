//! The figures of booted kernels, summarised over many boots.

use clap::ValueEnum;
use serde_json::{Value, json};

use crate::series::build::variant::Variant;

/// The most thousandths of its time that the host may take from a valid figure.
const MOST_LOST: f64 = 10.0;

/// The figures of one boot.
#[derive(Clone, Debug)]
pub struct BootFigures {
    /// The variant of the series.
    pub variant: Variant,
    /// The objects that the process printed.
    pub said: Vec<Value>,
}

/// The figures of one run.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// The boots in order.
    pub boots: Vec<BootFigures>,
}

/// The summary of many samples.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Summary {
    /// The number of samples.
    pub samples: usize,
    /// The smallest.
    pub min: f64,
    /// Half of the samples are at most this.
    pub median: f64,
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub stddev: f64,
    /// Half of the interquartile range, which one disturbed boot does not change.
    pub spread: f64,
    /// The largest.
    pub max: f64,
}

impl Summary {
    /// Summarises samples; returns `None` if there are none.
    pub fn of(samples: &[f64]) -> Option<Self> {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let count = sorted.len() as f64;
        let mean = sorted.iter().sum::<f64>() / count;
        let variance = sorted.iter().map(|sample| (sample - mean).powi(2)).sum::<f64>() / count;
        let median = f64::midpoint(sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
        let quartile = |quarters: usize| sorted[(sorted.len() - 1) * quarters / 4];
        let spread = (quartile(3) - quartile(1)) / 2.0;
        Some(Self { samples: sorted.len(), min, median, mean, stddev: variance.sqrt(), spread, max })
    }
}

/// A median, and the ends of an interval about it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interval {
    /// Half of the samples are at most this.
    pub median: f64,
    /// The ends of the 95 % interval; `None` with fewer than six samples, which are too few.
    pub ends: Option<[f64; 2]>,
}

impl Interval {
    /// Returns the confidence interval of the median, by the order statistics of the samples. It assumes nothing about
    /// their distribution. `None` if there are no samples.
    pub fn of(samples: &[f64]) -> Option<Self> {
        let median = Summary::of(samples)?.median;
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        // The binomial probability that at most `few` samples lie on one side of the median.
        let mut probability = 0.5_f64.powi(sorted.len() as i32);
        let (mut sum, mut few) = (probability, 0);
        while sum <= 0.025 {
            few += 1;
            probability *= (sorted.len() - few + 1) as f64 / few as f64;
            sum += probability;
        }
        // Fewer than `few` samples on one side are as improbable as the interval allows.
        let ends = (few > 0).then(|| [sorted[few - 1], sorted[sorted.len() - few]]);
        Some(Self { median, ends })
    }
}

/// Selects the objects of a run that have all of these values.
pub type RowFilter<'a> = &'a [(&'a str, Value)];

impl Figures {
    /// Returns the variants that were measured, each once.
    pub fn variants(&self) -> Vec<Variant> {
        Variant::ALL
            .into_iter()
            .filter(|variant| self.boots.iter().any(|boot| boot.variant == *variant))
            .collect()
    }

    /// Returns the figure at `path` (`alloc.mean`) in every selected object.
    ///
    /// Disturbed samples are left out if most samples were not disturbed.
    pub fn samples(&self, variant: Variant, wanted: RowFilter, path: &str) -> Vec<f64> {
        let boots = self.boots.iter().filter(|boot| boot.variant == variant);
        let objects = boots.flat_map(|boot| &boot.said).filter(|object| is_wanted(object, wanted));
        let mut samples: Vec<(f64, f64)> = objects
            .filter_map(|object| Some((object["lost"].as_f64().unwrap_or_default(), figure(object, path)?)))
            .collect();
        samples.sort_by(|left, right| left.0.total_cmp(&right.0));
        let calm = samples.partition_point(|(lost, _)| *lost <= MOST_LOST);
        samples.truncate(calm.max(samples.len().div_ceil(2)));
        samples.into_iter().map(|(_, figure)| figure).collect()
    }

    /// Returns the cost of a monitor for each boot and each selected object: by how many percent the sum of the figures
    /// at `paths` with the monitor exceeds the sum without it.
    ///
    /// Disturbed pairs are left out, and boots without a pair.
    pub fn losses(&self, variant: Variant, wanted: RowFilter, paths: &[&str]) -> Vec<Vec<f64>> {
        let boots = self.boots.iter().filter(|boot| boot.variant == variant);
        let losses = boots.map(|boot| {
            let calm = |object: &&Value| object["lost"].as_f64().unwrap_or_default() <= MOST_LOST;
            let sum = |object: &Value| paths.iter().map(|path| figure(object, path)).sum::<Option<f64>>();
            let objects: Vec<_> =
                boot.said.iter().filter(|object| is_wanted(object, wanted)).filter(calm).collect();
            let withouts = objects.iter().filter(|object| object["monitor"] == false);
            let of_pair = |without: &&Value| {
                let is_pair = |other: &&&Value| {
                    other["monitor"] == true
                        && other["n"] == without["n"]
                        && other["repetition"] == without["repetition"]
                };
                let with = objects.iter().find(is_pair)?;
                Some(percent_over(sum(with)?, sum(without)?))
            };
            withouts.filter_map(of_pair).collect()
        });
        losses.filter(|losses: &Vec<f64>| !losses.is_empty()).collect()
    }

    /// Returns the summary of the samples.
    pub fn summary(&self, variant: Variant, wanted: RowFilter, path: &str) -> Option<Summary> {
        Summary::of(&self.samples(variant, wanted, path))
    }

    /// Returns the different values of a field in the objects of a test, in order.
    pub fn values(&self, test: &str, field: &str) -> Vec<Value> {
        let mut values: Vec<Value> = Vec::new();
        let objects = self.boots.iter().flat_map(|boot| &boot.said).filter(|object| object["test"] == test);
        for object in objects {
            let value = &object[field];
            if !value.is_null() && !values.contains(value) {
                values.push(value.clone());
            }
        }
        values
    }

    /// Returns the figures that [`Self::json`] has given, or `None` if these are none.
    pub fn from_json(boots: &Value) -> Option<Self> {
        let boots = boots.as_array()?.iter().map(|boot| {
            let variant = Variant::from_str(boot["variant"].as_str()?, false).ok()?;
            Some(BootFigures { variant, said: boot["said"].as_array()?.clone() })
        });
        Some(Self { boots: boots.collect::<Option<_>>()? })
    }

    /// Returns all figures as JSON.
    pub fn json(&self) -> Value {
        let boots = self.boots.iter().map(|boot| json!({"variant": boot.variant.name(), "said": boot.said}));
        boots.collect()
    }
}

fn is_wanted(object: &Value, wanted: RowFilter) -> bool {
    wanted.iter().all(|(field, value)| object[*field] == *value)
}

fn figure(object: &Value, path: &str) -> Option<f64> {
    path.split('.').try_fold(object, |object, name| object.get(name))?.as_f64()
}

/// Returns by how many percent `value` exceeds `base`.
pub fn percent_over(value: f64, base: f64) -> f64 {
    if base == 0.0 { 0.0 } else { (value / base - 1.0) * 100.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(samples: &[(f64, f64)]) -> Figures {
        let said = samples.iter().map(
            |(lost, mean)| json!({"test": "pagealloc", "order": 4, "lost": lost, "alloc": {"mean": mean}}),
        );
        Figures { boots: vec![BootFigures { variant: Variant::Beside, said: said.collect() }] }
    }

    #[test]
    fn samples_are_summarised() {
        let summary = Summary::of(&[4.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!((summary.min, summary.median, summary.max, summary.mean), (1.0, 2.5, 4.0, 2.5));
        assert!((summary.stddev - 1.25_f64.sqrt()).abs() < 1e-12);
        let disturbed = Summary::of(&[1.0, 1.0, 2.0, 3.0, 900.0]).unwrap();
        assert_eq!((disturbed.median, disturbed.spread), (2.0, 1.0));
        assert_eq!(Summary::of(&[]), None);
    }

    #[test]
    fn interval_has_the_binomial_ends() {
        let of = |count: u32| {
            let samples: Vec<_> = (1..=count).rev().map(f64::from).collect();
            Interval::of(&samples).map(|interval| (interval.median, interval.ends))
        };
        assert_eq!(of(0), None);
        assert_eq!(of(5), Some((3.0, None)));
        // 2 of 64, 2 * (1 + 8) of 256, and 2 * (1 + 16 + 120 + 560) of 65536 samples lie outside.
        assert_eq!(of(6), Some((3.5, Some([1.0, 6.0]))));
        assert_eq!(of(8), Some((4.5, Some([1.0, 8.0]))));
        assert_eq!(of(9), Some((5.0, Some([2.0, 8.0]))));
        assert_eq!(of(16), Some((8.5, Some([4.0, 13.0]))));
    }

    #[test]
    fn figures_round_trip() {
        let kept = figures(&[(0.0, 5.0), (3.0, 7.0)]);
        let again = Figures::from_json(&kept.json()).unwrap();
        assert_eq!(again.json(), kept.json());
        assert!(Figures::from_json(&json!([{"variant": "other", "said": []}])).is_none());
        assert!(Figures::from_json(&json!({"boots": []})).is_none());
    }

    #[test]
    fn figures_are_found_by_their_fields() {
        let figures = figures(&[(0.0, 5.0), (3.0, 7.0)]);
        let wanted = [("test", json!("pagealloc")), ("order", json!(4))];
        assert_eq!(figures.samples(Variant::Beside, &wanted, "alloc.mean"), [5.0, 7.0]);
        assert!(figures.samples(Variant::Vanilla, &wanted, "alloc.mean").is_empty());
        assert!(figures.samples(Variant::Beside, &[("order", json!(0))], "alloc.mean").is_empty());
        assert!(figures.samples(Variant::Beside, &wanted, "free.mean").is_empty());
        assert_eq!(
            (figures.variants(), figures.values("pagealloc", "order")),
            (vec![Variant::Beside], vec![json!(4)])
        );
    }

    #[test]
    fn monitor_cost_compares_rounds_with_and_without_it() {
        let slice = |repetition, monitor, lost, mean| json!({"test": "pagealloc", "repetition": repetition, "monitor": monitor, "lost": lost, "free": mean});
        let said = vec![
            slice(0, false, 0, 100.0),
            slice(0, true, 0, 103.0),
            slice(1, true, 0, 202.0),
            slice(1, false, 0, 200.0),
            slice(2, true, 900, 999.0),
            slice(2, false, 0, 100.0),
        ];
        let idle = BootFigures { variant: Variant::Beside, said: Vec::new() };
        let figures = Figures { boots: vec![BootFigures { variant: Variant::Beside, said }, idle] };
        let of = |paths: &[&str]| {
            let losses = figures.losses(Variant::Beside, &[("test", json!("pagealloc"))], paths);
            losses.iter().map(|boot| boot.iter().map(|loss| loss.round()).collect()).collect::<Vec<Vec<_>>>()
        };
        assert_eq!(of(&["free"]), [[3.0, 1.0]]);
        assert_eq!(of(&["free", "free"]), [[3.0, 1.0]]);
        assert!(of(&["free", "alloc"]).is_empty(), "no round has both");
    }

    #[test]
    fn disturbed_samples_are_left_out_unless_most_are_disturbed() {
        let wanted = [("test", json!("pagealloc"))];
        let of = |samples: &[(f64, f64)]| figures(samples).samples(Variant::Beside, &wanted, "alloc.mean");
        assert_eq!(of(&[(500.0, 9.0), (0.0, 1.0), (0.0, 2.0)]), [1.0, 2.0]);
        assert_eq!(of(&[(500.0, 9.0), (90.0, 3.0), (0.0, 1.0)]), [1.0, 3.0]);
    }
}
