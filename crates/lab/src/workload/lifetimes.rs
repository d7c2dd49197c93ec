//! How long blocks of a class live.

use freehold_measure::histogram::Buckets;

use super::random::Random;

/// Four buckets an octave of nanoseconds.
type Quarters = Buckets<2>;

/// How long blocks of a class live. Of blocks still held when the recording ended, only a lower bound is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Lifetimes {
    /// Blocks freed, by bucket of their age.
    freed: Vec<u64>,
    /// Blocks last seen alive, by bucket of their age.
    unseen: Vec<u64>,
}

/// A distribution of lifetimes to draw from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Survival {
    /// Of 2^32 blocks, those that are freed by the end of each bucket.
    gone: Vec<u64>,
}

/// All blocks.
const ALL: u64 = 1 << 32;

/// Returns the bucket of an age; the shortest ages share that of 4 ns.
fn bucket(age_ns: u64) -> usize {
    Quarters::of(age_ns.max(4))
}

impl Lifetimes {
    pub(super) fn new() -> Self {
        Self { freed: vec![0; Quarters::COUNT], unseen: vec![0; Quarters::COUNT] }
    }

    /// Counts a block that was freed at this age.
    pub(super) fn note_freed(&mut self, age_ns: u64) {
        self.freed[bucket(age_ns)] += 1;
    }

    /// Counts a block that was alive at this age when last seen.
    pub(super) fn note_unseen(&mut self, age_ns: u64) {
        self.unseen[bucket(age_ns)] += 1;
    }

    /// Returns the number of blocks counted.
    fn blocks(&self) -> u64 {
        self.freed.iter().chain(&self.unseen).sum()
    }

    /// Returns the share of blocks freed by each age, with account of blocks still held: the estimator of Kaplan
    /// and Meier, in integers.
    pub(super) fn survival(&self) -> Survival {
        let mut at_risk = self.blocks();
        let mut alive = ALL;
        let gone = self.freed.iter().zip(&self.unseen).map(|(&freed, &unseen)| {
            // Blocks last seen alive in this bucket were at risk for half of it, on average.
            let exposed = (2 * at_risk - unseen).max(1);
            alive -=
                (u128::from(alive) * u128::from(2 * freed) / u128::from(exposed)).min(alive.into()) as u64;
            at_risk -= freed + unseen;
            ALL - alive
        });
        Survival { gone: gone.collect() }
    }
}

impl Survival {
    /// Draws a lifetime; `None` for a block that stays.
    ///
    /// Units: nanoseconds.
    pub(super) fn draw(&self, random: &mut Random) -> Option<u64> {
        let drawn = random.below(ALL);
        let bucket = self.gone.partition_point(|&gone| gone <= drawn);
        if bucket >= self.gone.len() {
            return None;
        }
        let (first, width) = Quarters::first_and_width(bucket);
        Some(first + random.below(width))
    }

    /// Returns the largest difference between two distributions, in thousandths of all blocks: the
    /// statistic of Kolmogorov and Smirnov.
    pub(super) fn distance(&self, other: &Self) -> u64 {
        let differences = self.gone.iter().zip(&other.gone).map(|(&a, &b)| a.abs_diff(b));
        differences.max().unwrap_or(0) * 1000 / ALL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_blocks_count_for_as_long_as_they_were_seen() {
        let mut lifetimes = Lifetimes::new();
        // Half of a hundred go early; of the others half is out of sight before the rest goes.
        (0..50).for_each(|_| lifetimes.note_freed(1_000));
        (0..25).for_each(|_| lifetimes.note_unseen(10_000));
        (0..25).for_each(|_| lifetimes.note_freed(100_000));
        let survival = lifetimes.survival();
        assert_eq!(survival.gone[bucket(1_000)], ALL / 2);
        assert_eq!(survival.gone[Quarters::COUNT - 1], ALL);
        let mut random = Random::new(3);
        let early = (0..10_000).filter(|_| survival.draw(&mut random).is_some_and(|ns| ns < 2_000)).count();
        assert!((4_800..5_200).contains(&early), "{early} of 10 000");
        assert_eq!(survival.distance(&survival), 0);
    }
}
