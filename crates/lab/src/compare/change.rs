//! The change of one number, and whether the change is reported.

use freehold_measure::{Cell, grouped};
use serde::Serialize;

use super::subjects::{Kind, SUBJECTS, Subject, Values};

/// A change is noise up to this number of standard deviations of the difference of two replays.
const NOTABLE_DEVIATIONS: f64 = 2.0;

/// Changes below this share of a number are not reported, if the noise is known.
const WORTH_TELLING: f64 = 0.01;

/// Changes below this share of a number are not reported, if the noise is unknown.
const WORTH_TELLING_OF_ONE: f64 = 0.05;

/// A change is large if a number grows or falls by this factor.
const LARGE: f64 = 1.1;

/// A mean and its standard deviation.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub(super) struct Spread {
    /// The mean of all replays.
    pub(super) mean: f64,
    /// The standard deviation of a single replay; `None` for one replay.
    pub(super) sd: Option<f64>,
}

impl Spread {
    /// Returns the mean and the standard deviation of a sample; 0 for an empty sample.
    pub(super) fn of(values: impl ExactSizeIterator<Item = f64> + Clone) -> Self {
        let count = values.len() as f64;
        let mean = values.clone().sum::<f64>() / count.max(1.0);
        let squares: f64 = values.map(|value| (value - mean).powi(2)).sum();
        Self { mean, sd: (count > 1.0).then(|| (squares / (count - 1.0)).sqrt()) }
    }

    /// Returns the mean as text, with the standard deviation if it is known.
    pub(super) fn text(self) -> String {
        let of = number(self.mean);
        match self.sd {
            Some(sd) if sd > 0.0 => format!("{of} ± {}", number(sd)),
            _ => of,
        }
    }
}

/// Returns a number as text: without decimals if it is whole or large.
fn number(value: f64) -> String {
    if value.abs() >= 100.0 || value.fract() == 0.0 {
        Cell::Signed(value.round() as i64).text()
    } else {
        format!("{value:.1}")
    }
}

/// The change of one number from one variant of the allocator to another.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub(super) struct Change {
    /// The number's name.
    pub(super) what: &'static str,
    /// The number before.
    pub(super) before: Spread,
    /// The number after.
    pub(super) after: Spread,
    /// The largest difference that is noise; `None` if the noise is unknown.
    pub(super) noise: Option<f64>,
}

impl Change {
    /// Returns the change of every subject between two variants with one replay each. `scatter` has the standard
    /// deviations of similar replays.
    pub(super) fn of_single(before: &Values, after: &Values, scatter: &[(Spread, Spread)]) -> Vec<Self> {
        let one = |mean| Spread { mean, sd: None };
        let all = SUBJECTS.iter().zip(scatter).enumerate();
        let change = all.map(|(number, (subject, &scatter))| Self {
            noise: noise(scatter),
            ..Self::new(subject, one(before[number]), one(after[number]))
        });
        change.collect()
    }

    /// Returns the change of a subject between two variants with several replays each.
    pub(super) fn new(subject: &Subject, before: Spread, after: Spread) -> Self {
        Self { what: subject.name, before, after, noise: noise((before, after)) }
    }

    /// Returns true if the change exceeds the noise and is large enough to matter.
    pub(super) fn is_reported(&self) -> bool {
        let (before, after) = (self.before.mean, self.after.mean);
        let difference = (after - before).abs();
        let share = if self.noise.is_some() { WORTH_TELLING } else { WORTH_TELLING_OF_ONE };
        difference > self.noise.unwrap_or(0.0)
            && difference > 0.0
            && difference >= share * before.abs().max(after.abs())
    }

    /// Returns the ratio of the larger to the smaller number; infinity if the smaller is 0.
    pub(super) fn ratio(&self) -> f64 {
        let (before, after) = (self.before.mean, self.after.mean);
        before.max(after) / before.min(after)
    }

    /// Returns a clause that describes the change.
    pub(super) fn clause(&self) -> String {
        let (what, before, after) = (self.what, self.before.mean, self.after.mean);
        let numbers = format!("({} → {})", self.before.text(), self.after.text());
        if (after - before).abs() == 0.0 {
            return format!("no difference in {what} on this trace ({})", self.before.text());
        }
        if after == 0.0 {
            return format!("no {what} any more {numbers}");
        }
        if before == 0.0 {
            return format!("{what} where there were none {numbers}");
        }
        let ratio = self.ratio();
        let ratio = if ratio >= 10.0 {
            format!("{}x", grouped(ratio.round() as u64))
        } else if ratio >= LARGE {
            format!("{ratio:.1}x")
        } else {
            format!("{:.1} %", (ratio - 1.0) * 100.0)
        };
        format!("{ratio} {} {what} {numbers}", if after < before { "fewer" } else { "more" })
    }
}

fn noise((before, after): (Spread, Spread)) -> Option<f64> {
    Some(NOTABLE_DEVIATIONS * before.sd?.hypot(after.sd?))
}

/// The kinds of numbers whose changes are reported.
pub(super) const ALL_KINDS: [Kind; 3] = [Kind::Outcome, Kind::Cost, Kind::Way];

/// Returns the changes of some kinds that exceed the noise and are large enough to matter: the most important first,
/// changes below a tenth last.
pub(super) fn reported(changes: &[Change], kinds: &[Kind]) -> Vec<Change> {
    let of_kind = |what| SUBJECTS.iter().any(|subject| subject.name == what && kinds.contains(&subject.kind));
    let reported = changes.iter().filter(|change| of_kind(change.what) && change.is_reported()).copied();
    let (large, small): (Vec<_>, Vec<_>) = reported.partition(|change| change.ratio() >= LARGE);
    [large, small].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(before: (f64, Option<f64>), after: (f64, Option<f64>)) -> Change {
        let spread = |(mean, sd)| Spread { mean, sd };
        let subject = &SUBJECTS[0];
        Change { what: "steps", ..Change::new(subject, spread(before), spread(after)) }
    }

    #[test]
    fn clauses_match_the_numbers() {
        let say = |before, after| change((before, None), (after, None)).clause().replace('\u{202f}', " ");
        assert_eq!(say(12_345.0, 86.0), "144x fewer steps (12 345 → 86)");
        assert_eq!(say(10.0, 0.0), "no steps any more (10 → 0)");
        assert_eq!(say(0.0, 7.0), "steps where there were none (0 → 7)");
        assert_eq!(say(100.0, 150.0), "1.5x more steps (100 → 150)");
        assert_eq!(say(105.0, 100.0), "5.0 % fewer steps (105 → 100)");
        assert_eq!(say(5.0, 5.0), "no difference in steps on this trace (5)");
        let spread = change((20.25, Some(0.0)), (1200.5, Some(31.4))).clause().replace('\u{202f}', " ");
        assert_eq!(spread, "59x more steps (20.2 → 1 201 ± 31.4)");
    }

    #[test]
    fn changes_within_noise_are_not_reported() {
        let reported = |before, after| change(before, after).is_reported();
        assert!(reported((100.0, Some(3.0)), (115.0, Some(4.0))));
        assert!(
            !reported((100.0, Some(6.0)), (115.0, Some(8.0))),
            "planted standard deviations above half the change"
        );
        assert!(!reported((1000.0, Some(0.0)), (1009.0, Some(0.0))), "too small to matter");
        assert!(reported((1000.0, Some(0.0)), (1011.0, Some(0.0))));
        assert!(!reported((1000.0, None), (1011.0, None)), "one replay, unknown noise");
        assert!(reported((0.0, None), (1.0, None)) && !reported((0.0, None), (0.0, None)));
    }

    #[test]
    fn mean_and_deviation_of_samples() {
        for (values, mean, sd) in [
            (&[1.0, 3.0][..], 2.0, Some(2.0_f64.sqrt())),
            (&[2.0, 4.0, 6.0], 4.0, Some(2.0)),
            (&[7.0], 7.0, None),
            (&[], 0.0, None),
        ] {
            assert_eq!(Spread::of(values.iter().copied()), Spread { mean, sd });
        }
    }
}
