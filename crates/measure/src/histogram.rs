//! Histograms of times and sizes, with the same relative resolution at every scale.

/// Counts of sizes from 2^n to 2^(n+1) − 1, by n. The last place also counts all larger sizes.
pub type ByPowerOfTwo = [u64; 32];

/// Returns the place of a size in [`ByPowerOfTwo`]. Size 0 has the place of size 1.
pub fn power_of_two(size: u64) -> usize {
    (size.max(1).ilog2() as usize).min(size_of::<ByPowerOfTwo>() / size_of::<u64>() - 1)
}

/// Buckets for all 64-bit numbers: each octave has 2^`SUB_BITS` buckets of equal width. Below 2^`SUB_BITS` every number
/// has its own bucket.
#[derive(Clone, Copy, Debug)]
pub struct Buckets<const SUB_BITS: u32>;

impl<const SUB_BITS: u32> Buckets<SUB_BITS> {
    /// The number of buckets of an octave.
    const SUBS: usize = 1 << SUB_BITS;

    /// The number of all buckets.
    pub const COUNT: usize = (64 - SUB_BITS as usize + 1) * Self::SUBS;

    /// Returns the bucket of a number.
    #[inline]
    pub fn of(number: u64) -> usize {
        let exponent = (number | 1).ilog2();
        if exponent < SUB_BITS {
            return number as usize;
        }
        let shift = exponent - SUB_BITS;
        (((shift + 1) as usize) << SUB_BITS) + ((number >> shift) as usize & (Self::SUBS - 1))
    }

    /// Returns the smallest number of a bucket, and the number of values in the bucket.
    pub fn first_and_width(bucket: usize) -> (u64, u64) {
        if bucket < Self::SUBS {
            return (bucket as u64, 1);
        }
        let shift = (bucket >> SUB_BITS) as u32 - 1;
        let place = (Self::SUBS + (bucket & (Self::SUBS - 1))) as u64;
        (place << shift, 1 << shift)
    }

    /// Returns the largest number of a bucket.
    pub fn last(bucket: usize) -> u64 {
        let (first, width) = Self::first_and_width(bucket);
        // The last bucket ends at the largest 64-bit number, so the subtraction comes first.
        first + (width - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn power_of_two_is_the_place_of_a_size() {
        let sizes = [0, 1, 2, 3, 4, 1023, 1024, u64::from(u32::MAX), u64::MAX];
        assert_eq!(sizes.map(power_of_two), [0, 0, 1, 1, 2, 9, 10, 31, 31]);
    }

    fn buckets_follow_each_other<const SUB_BITS: u32>() {
        let mut below = None;
        for bucket in 0..Buckets::<SUB_BITS>::COUNT {
            let (first, width) = Buckets::<SUB_BITS>::first_and_width(bucket);
            let last = Buckets::<SUB_BITS>::last(bucket);
            assert_eq!(first, below.map_or(0, |below: u64| below + 1), "no gap below bucket {bucket}");
            assert_eq!((Buckets::<SUB_BITS>::of(first), Buckets::<SUB_BITS>::of(last)), (bucket, bucket));
            assert!(width - 1 <= first >> SUB_BITS, "bucket {bucket} is too wide");
            below = Some(last);
        }
        assert_eq!(below, Some(u64::MAX));
    }

    #[test]
    fn bucket_width_is_a_small_share_of_its_numbers() {
        buckets_follow_each_other::<2>();
        buckets_follow_each_other::<3>();
    }
}
