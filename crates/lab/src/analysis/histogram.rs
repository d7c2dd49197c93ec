//! Lifetimes of pages, in eight buckets for each octave.

use freehold_measure::histogram::Buckets;

/// Eight buckets for each octave. The width of a bucket is at most an eighth of its lower bound.
type Eighths = Buckets<3>;

/// The number of octaves: one for 0 ns, then one for each power of two.
pub const OCTAVES: usize = 65;

/// Pages by lifetime, in bounded memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Histogram {
    buckets: Vec<u64>,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { buckets: vec![0; Eighths::COUNT] }
    }
}

impl Histogram {
    #[inline]
    pub(super) fn add(&mut self, time_ns: u64, pages: u64) {
        self.buckets[Eighths::of(time_ns)] += pages;
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (own, more) in self.buckets.iter_mut().zip(&other.buckets) {
            *own += more;
        }
    }

    pub(super) fn pages(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// Returns a percentile of the lifetimes: the upper bound of its bucket, which is at most an eighth above the
    /// exact time. `None` without pages.
    ///
    /// Units: nanoseconds.
    pub(super) fn percentile(&self, percent: u64) -> Option<u64> {
        let wanted = (u128::from(self.pages()) * u128::from(percent)).div_ceil(100).max(1);
        let mut seen = 0;
        self.buckets
            .iter()
            .position(|&pages| {
                seen += u128::from(pages);
                seen >= wanted
            })
            .map(Eighths::last)
    }

    /// Returns pages by octave: index 0 is 0 ns, index `n` is from `2^(n-1)` up to below `2^n` ns.
    pub(super) fn octaves(&self) -> [u64; OCTAVES] {
        let mut octaves = [0; OCTAVES];
        for (number, pages) in self.buckets.iter().enumerate() {
            octaves[(64 - Eighths::last(number).leading_zeros()) as usize] += pages;
        }
        octaves
    }
}

/// Returns the longest time in the bucket that contains `time_ns`.
///
/// Units: nanoseconds.
pub fn rounded_up(time_ns: u64) -> u64 {
    Eighths::last(Eighths::of(time_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_and_octaves_count_pages() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.percentile(50), None);
        histogram.add(0, 1);
        histogram.add(5, 98);
        histogram.add(1000, 1);
        assert_eq!((histogram.percentile(1), histogram.percentile(2)), (Some(0), Some(5)));
        assert_eq!((histogram.percentile(99), histogram.percentile(100)), (Some(5), Some(1023)));
        let octaves = histogram.octaves();
        assert_eq!((octaves[0], octaves[3], octaves[10]), (1, 98, 1));
        assert_eq!(octaves.iter().sum::<u64>(), histogram.pages());
    }
}
