//! Random numbers from a seed, in integer arithmetic: the same on every machine.

/// A random number generator. The same seed gives the same numbers.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns a number below `bound`; 0 if `bound` is 0.
    #[inline]
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound.max(1)
    }

    /// Returns true with probability 1 / `among`.
    pub(super) fn one_in(&mut self, among: u64) -> bool {
        self.below(among) == 0
    }

    /// Returns a size from `least` to `most`: half of them below twice `least`, a quarter below four times
    /// `least`, and so on.
    pub(super) fn long_tailed(&mut self, least: u64, most: u64) -> u64 {
        let mut size = least + self.below(least);
        while size < most && self.one_in(2) {
            size *= 2;
        }
        size.min(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_in_range_and_repeat() {
        let (mut random, mut again) = (Random::new(7), Random::new(7));
        for _ in 0..1000 {
            assert_eq!(random.below(10), again.below(10));
            assert!((16..=64).contains(&random.long_tailed(16, 64)));
            let _ = again.long_tailed(16, 64);
        }
        assert_eq!(random.below(0), 0);
    }
}
