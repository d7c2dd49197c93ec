//! What a watch of allocations brings.

use super::allocations::Allocations;

/// The share of all pageblocks of which a watch remembers every allocation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Share(u64);

impl Share {
    /// Every pageblock.
    pub const ALL: Self = Self(1 << 32);

    /// Returns half of the share.
    #[must_use]
    pub fn half(self) -> Self {
        Self((self.0 / 2).max(1))
    }

    /// Returns the number below which a pageblock's mixed number must be, of 2^32.
    #[cfg(feature = "bpf")]
    pub(crate) fn bound(self) -> u64 {
        self.0
    }

    /// Returns true if the pageblock of this number (its first frame's, divided by the pages of a pageblock) is in the share.
    ///
    /// The BPF programs choose by the same rule.
    pub fn has(self, pageblock: u64) -> bool {
        pageblock.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32 < self.0
    }

    /// Returns the share as a number up to 1.
    pub fn fraction(self) -> f64 {
        self.0 as f64 / Self::ALL.0 as f64
    }
}

/// What was allocated during a watch and is still in use, and what the watch took.
#[derive(Clone, PartialEq, Debug)]
pub struct Watched {
    /// The allocations of the share that were not freed.
    pub live: Allocations,
    /// Of which pageblocks all allocations were remembered to the end.
    pub share: Share,
    /// Allocations of other types than Movable, in all pageblocks.
    pub allocations: u64,
    /// Frees of any type, in all pageblocks.
    pub frees: u64,
    /// Allocations that there was no room for.
    pub lost: u64,
    /// Allocations whose stack there was no room for.
    pub without_stack: u64,
    /// How long the watch lasted.
    pub duration_ns: u64,
    /// The time that all CPUs together spent in the watch's programs, estimated from one call in 64.
    pub cost_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_has_about_as_many_pageblocks_as_it_says() {
        let count = |share: Share| (0..100_000).filter(|&pageblock| share.has(pageblock)).count();
        assert_eq!(count(Share::ALL), 100_000);
        let quarter = Share::ALL.half().half();
        assert!((24_000..26_000).contains(&count(quarter)), "{}", count(quarter));
        assert!((0..1000).all(|pageblock| !quarter.has(pageblock) || Share::ALL.half().has(pageblock)));
        assert!(quarter.fraction() > 0.2499 && quarter.fraction() < 0.2501);
    }
}
