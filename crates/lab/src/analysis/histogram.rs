//! How long pages lived, in buckets of which eight make an octave.

/// Bits of a time that tell the buckets of an octave apart.
const SUB_BITS: u32 = 3;

/// Buckets of an octave, each an eighth of its lower bound wide.
const SUBS: usize = 1 << SUB_BITS;

/// Buckets for every time of 64 bits.
const BUCKETS: usize = (64 - SUB_BITS as usize + 1) * SUBS;

/// Octaves: 0 ns, then one for each power of two.
pub const OCTAVES: usize = 65;

/// How many pages lived how long: bounded memory, whatever the times.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Histogram {
    buckets: Vec<u64>,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { buckets: vec![0; BUCKETS] }
    }
}

impl Histogram {
    #[inline]
    pub(super) fn add(&mut self, time_ns: u64, pages: u64) {
        self.buckets[bucket(time_ns)] += pages;
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (own, more) in self.buckets.iter_mut().zip(&other.buckets) {
            *own += more;
        }
    }

    pub(super) fn pages(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// A time that this share of the pages did not outlive: the upper bound of its bucket, at most an
    /// eighth above the exact time. `None` without pages.
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
            .map(upper_bound)
    }

    /// Pages by octave: place 0 is 0 ns, place `n` from `2^(n-1)` up to below `2^n` ns.
    pub(super) fn octaves(&self) -> [u64; OCTAVES] {
        let mut octaves = [0; OCTAVES];
        for (number, pages) in self.buckets.iter().enumerate() {
            octaves[(64 - upper_bound(number).leading_zeros()) as usize] += pages;
        }
        octaves
    }
}

/// The bucket of a time.
#[inline]
fn bucket(time_ns: u64) -> usize {
    let exponent = (time_ns | 1).ilog2();
    if exponent < SUB_BITS {
        return time_ns as usize;
    }
    let shift = exponent - SUB_BITS;
    (((shift + 1) as usize) << SUB_BITS) + ((time_ns >> shift) as usize & (SUBS - 1))
}

/// The longest time in a bucket.
fn upper_bound(bucket: usize) -> u64 {
    if bucket < SUBS {
        return bucket as u64;
    }
    let shift = (bucket >> SUB_BITS) as u32 - 1;
    let first = (SUBS + (bucket & (SUBS - 1))) as u64;
    // The last bucket ends at the largest number.
    (first << shift) + ((1 << shift) - 1)
}

/// The longest time that cannot be told from this one.
///
/// Units: nanoseconds.
pub fn rounded_up(time_ns: u64) -> u64 {
    upper_bound(bucket(time_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_an_eighth_of_its_times_wide_at_most() {
        let mut last = None;
        for number in 0..BUCKETS {
            let upper = upper_bound(number);
            assert_eq!(bucket(upper), number);
            let lower = last.map_or(0, |below: u64| below + 1);
            assert_eq!(bucket(lower), number, "no gap below bucket {number}");
            assert!(upper - lower <= lower / 8, "bucket {number}");
            last = Some(upper);
        }
        assert_eq!(last, Some(u64::MAX));
    }

    #[test]
    fn percentiles_and_octaves_are_of_pages() {
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
