//! A control for tests of forecasts on this machine: measures the drift of free blocks while the test does nothing.

use std::fs;
use std::ops::RangeInclusive;
use std::thread;
use std::time::{Duration, Instant};

/// The smallest error of a forecast that a judgement must be able to refuse, as a fraction of the forecast.
///
/// If the tolerance of [`Drift::judge`] exceeds this error, the machine is too busy to judge.
pub const SMALLEST_WRONG: f64 = 0.2;

/// The duration of one control.
const CONTROL: Duration = Duration::from_secs(1);

/// The number of readings in one control.
const READINGS: u32 = 20;

/// The rate at which the number of free blocks of an order and above changes while the test does nothing.
#[derive(Clone, Copy, Debug)]
pub struct Drift {
    order: usize,
    blocks_per_second: f64,
}

/// A forecast of free blocks, and the observation. Numbers are blocks of the order of the [`Drift`].
#[derive(Clone, Debug)]
pub struct Tried {
    /// The smallest and the largest predicted number of blocks.
    pub predicted: RangeInclusive<f64>,
    /// The observed number of blocks.
    pub observed: f64,
    /// The error that the test allows on a quiet machine, as a fraction of the prediction.
    pub quiet: f64,
    /// The time from the forecast to the observation.
    pub took: Duration,
}

/// The judgement of a forecast.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// The observation agrees with the prediction, within the tolerance.
    Right,
    /// The observation is outside the tolerance.
    Wrong,
    /// A wrong forecast could not be distinguished from the drift, for this reason.
    TooBusy(String),
}

impl Drift {
    /// Measures the drift before a test, for one second.
    ///
    /// # Panics
    /// If `/proc/buddyinfo` cannot be read.
    pub fn measure(order: usize) -> Self {
        let (began, mut blocks) = (Instant::now(), vec![free_blocks_now(order)]);
        for _ in 1..READINGS {
            thread::sleep(CONTROL / READINGS);
            blocks.push(free_blocks_now(order));
        }
        Self::of(order, &blocks, began.elapsed())
    }

    /// Measures the drift again after the test. Returns the larger of the two.
    ///
    /// # Panics
    /// If `/proc/buddyinfo` cannot be read.
    #[must_use]
    pub fn again(self) -> Self {
        let after = Self::measure(self.order);
        Self { blocks_per_second: self.blocks_per_second.max(after.blocks_per_second), ..self }
    }

    /// Returns the drift of `blocks`, which were read one after the other within `window`.
    fn of(order: usize, blocks: &[f64], window: Duration) -> Self {
        let least = blocks.iter().copied().fold(f64::INFINITY, f64::min);
        let most = blocks.iter().copied().fold(0.0, f64::max);
        Self { order, blocks_per_second: (most - least) / window.as_secs_f64() }
    }

    /// Returns the number of blocks by which the machine may have changed within `time`, or within the control if that
    /// is longer.
    pub fn blocks_in(&self, time: Duration) -> f64 {
        self.blocks_per_second * time.max(CONTROL).as_secs_f64()
    }

    /// Judges a forecast. The tolerance is the sum of the error that the test allows on a quiet machine, and the drift
    /// over the time from the forecast to the observation.
    pub fn judge(&self, tried: &Tried) -> Judgement {
        let (lower, upper) = (*tried.predicted.start(), *tried.predicted.end());
        let drift = self.blocks_in(tried.took);
        // Without drift only the test's own tolerance applies.
        if drift > 0.0 && upper * tried.quiet + drift > upper * SMALLEST_WRONG {
            return Judgement::TooBusy(format!(
                "{drift:.1} free blocks of order {} came or went by themselves in {:.1} s, and {upper} are predicted",
                self.order,
                tried.took.as_secs_f64()
            ));
        }
        let bounds = lower / (1.0 + tried.quiet) - drift..=upper * (1.0 + tried.quiet) + drift;
        if bounds.contains(&tried.observed) { Judgement::Right } else { Judgement::Wrong }
    }
}

fn free_blocks_now(order: usize) -> f64 {
    free_blocks(&fs::read_to_string("/proc/buddyinfo").expect("/proc/buddyinfo"), order)
}

/// Returns the memory in free blocks of `order` and above, in blocks of `order`. If the machine's largest blocks are
/// smaller, counts those.
fn free_blocks(buddyinfo: &str, order: usize) -> f64 {
    let mut pages = 0.0;
    for line in buddyinfo.lines() {
        // A line has `Node`, a number, `zone`, a name, and then a number for each order.
        let blocks: Vec<f64> = line.split_whitespace().skip(4).map_while(|word| word.parse().ok()).collect();
        let first = order.min(blocks.len().saturating_sub(1));
        pages += (first..)
            .zip(blocks.iter().skip(first))
            .map(|(order, blocks)| blocks * pages_of(order))
            .sum::<f64>();
    }
    pages / pages_of(order)
}

fn pages_of(order: usize) -> f64 {
    (1_u64 << order) as f64
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "small whole numbers and halves are exact")]
mod tests {
    use super::*;

    const TWO_ZONES: &str = "\
Node 0, zone      DMA      1      0      0      2
Node 0, zone   Normal    100     50      4      8
";

    fn tried(predicted: RangeInclusive<f64>, observed: f64) -> Tried {
        Tried { predicted, observed, quiet: 0.05, took: Duration::from_secs(2) }
    }

    fn drift(blocks: &[f64]) -> Drift {
        Drift::of(9, blocks, CONTROL)
    }

    #[test]
    fn larger_blocks_count_as_several_smaller_ones() {
        assert_eq!(free_blocks(TWO_ZONES, 3), 10.0);
        assert_eq!(free_blocks(TWO_ZONES, 2), 24.0);
        assert_eq!(free_blocks(TWO_ZONES, 0), 1.0 + 16.0 + 100.0 + 100.0 + 16.0 + 64.0);
        // An order above the largest counts blocks of the largest order as fractions.
        assert_eq!(free_blocks(TWO_ZONES, 4), 5.0);
        assert_eq!(free_blocks("", 9), 0.0);
    }

    #[test]
    fn a_quiet_control_refuses_a_planted_wrong_forecast() {
        let quiet = drift(&[500.0; 20]);
        assert_eq!(quiet.judge(&tried(500.0..=500.0, 500.0)), Judgement::Right);
        assert_eq!(quiet.judge(&tried(500.0..=500.0, 520.0)), Judgement::Right);
        for observed in [0.0, 400.0, 470.0, 530.0, 600.0, 50_000.0] {
            assert_eq!(quiet.judge(&tried(500.0..=500.0, observed)), Judgement::Wrong, "{observed}");
        }
        // Both bounds of a range are checked.
        assert_eq!(quiet.judge(&tried(300.0..=500.0, 400.0)), Judgement::Right);
        assert_eq!(quiet.judge(&tried(300.0..=500.0, 280.0)), Judgement::Wrong);
        assert_eq!(quiet.judge(&tried(0.0..=0.0, 1.0)), Judgement::Wrong);
    }

    #[test]
    fn drift_widens_the_tolerance_with_time() {
        let some = drift(&[500.0, 510.0, 505.0]);
        assert_eq!(some.blocks_in(Duration::from_secs(2)), 20.0);
        assert_eq!(some.blocks_in(Duration::from_millis(10)), 10.0, "no less than the control saw");
        assert_eq!(some.judge(&tried(500.0..=500.0, 540.0)), Judgement::Right, "25 and 20 are allowed");
        // Every control that judges refuses the smallest wrong forecast.
        for observed in [400.0, 600.0] {
            assert_eq!(some.judge(&tried(500.0..=500.0, observed)), Judgement::Wrong, "{observed}");
        }
    }

    #[test]
    fn busy_control_refuses_to_judge() {
        let busy = drift(&[500.0, 540.0, 490.0]);
        for observed in [0.0, 500.0] {
            let judgement = busy.judge(&tried(500.0..=500.0, observed));
            let Judgement::TooBusy(why) = judgement else { panic!("{judgement:?}") };
            assert!(why.contains("100.0 free blocks of order 9"), "{why}");
        }
        assert!(matches!(busy.judge(&tried(0.0..=0.0, 3.0)), Judgement::TooBusy(_)));
    }

    #[test]
    fn smallest_wrong_forecast_is_never_judged_right() {
        for blocks in 0..200 {
            let drift = drift(&[500.0, 500.0 + f64::from(blocks)]);
            for observed in [500.0 * (1.0 - SMALLEST_WRONG) - 0.01, 500.0 * (1.0 + SMALLEST_WRONG) + 0.01] {
                let judgement = drift.judge(&tried(500.0..=500.0, observed));
                assert_ne!(judgement, Judgement::Right, "{blocks} blocks of drift, {observed} of 500");
            }
        }
    }
}
