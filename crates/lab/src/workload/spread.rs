//! Mean and standard deviation of whole numbers.

/// Sums of the numbers added.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Spread {
    count: u64,
    sum: u128,
    squares: u128,
}

impl Spread {
    /// Adds a number.
    pub(super) fn add(&mut self, number: u64) {
        self.count += 1;
        self.sum += u128::from(number);
        self.squares += u128::from(number) * u128::from(number);
    }

    /// Returns mean and standard deviation; 0 without numbers.
    pub(super) fn mean_and_stddev(&self) -> (f64, f64) {
        let count = self.count.max(1) as f64;
        let mean = self.sum as f64 / count;
        (mean, (self.squares as f64 / count - mean * mean).max(0.0).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_numbers_do_not_spread() {
        let mut spread = Spread::default();
        assert_eq!(spread.mean_and_stddev(), (0.0, 0.0));
        for number in [3, 3, 3] {
            spread.add(number);
        }
        assert_eq!(spread.mean_and_stddev(), (3.0, 0.0));
        for number in [1, 5, 3] {
            spread.add(number);
        }
        let (mean, stddev) = spread.mean_and_stddev();
        assert!((2.999..3.001).contains(&mean) && (1.154..1.155).contains(&stddev), "{mean} {stddev}");
    }
}
