//! When a survey hurries: memory has changed much since its records were read.

use std::time::{Duration, Instant};

/// The change of free memory, as a part of all memory, that makes a survey hurry.
const PART: u64 = 64;

/// What tells whether a survey hurries.
#[derive(Debug, Default)]
pub(super) struct Haste {
    /// Free pages as the last hurried round began, or the first round ended.
    free: Option<u64>,
    /// From when on the hurried round reads, and the pages that it has left.
    round: Option<(Instant, u64)>,
    /// No hurried round begins before.
    rests_until: Option<Instant>,
}

impl Haste {
    /// Returns true if the survey is to hurry from `from` on, with so many pages free of `present` ones. A round has `spanned`
    /// pages.
    pub(super) fn is_due(&mut self, from: Instant, free: u64, present: u64, spanned: u64) -> bool {
        let known = *self.free.get_or_insert(free);
        let rests = self.rests_until.is_some_and(|until| from < until);
        if self.round.is_none() && !rests && known.abs_diff(free) > present / PART {
            (self.free, self.round) = (Some(free), Some((from, spanned)));
        }
        self.round.is_some()
    }

    /// Takes note that so many pages were read until `now`. The next hurried round is `rest` times as far away as the last one was
    /// long.
    pub(super) fn has_read(&mut self, now: Instant, pages: u64, rest: u32) {
        let Some((began, left)) = self.round else { return };
        self.round = left.checked_sub(pages).filter(|&left| left > 0).map(|left| (began, left));
        if self.round.is_none() {
            let took = now.saturating_duration_since(began);
            self.rests_until = Some(now + (took * rest).min(Duration::from_hours(1)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn much_change_makes_one_hurried_round_and_then_a_rest() {
        let (mut haste, start) = (Haste::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        assert!(!haste.is_due(at(0), 3000, 6400, 6400));
        assert!(!haste.is_due(at(1), 3100, 6400, 6400), "a 64th is not much");
        assert!(haste.is_due(at(2), 2899, 6400, 6400));
        haste.has_read(at(7), 6000, 9);
        assert!(haste.is_due(at(8), 2899, 6400, 6400), "400 are left of the round");
        haste.has_read(at(12), 500, 9);
        assert!(!haste.is_due(at(13), 2899, 6400, 6400));
        assert!(!haste.is_due(at(101), 1000, 6400, 6400), "it rests for nine times ten seconds");
        assert!(haste.is_due(at(103), 1000, 6400, 6400), "changes in between count afterwards");
    }

    #[test]
    fn a_round_of_one_look_is_followed_by_a_rest() {
        let (mut haste, start) = (Haste::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        assert!(!haste.is_due(at(0), 3000, 6400, 6400) && haste.is_due(at(1), 2000, 6400, 6400));
        haste.has_read(at(2), 6400, 9);
        assert!(!haste.is_due(at(10), 3000, 6400, 6400) && haste.is_due(at(11), 3000, 6400, 6400));
    }

    #[test]
    fn slow_change_counts_from_the_last_hurried_round() {
        let (mut haste, start) = (Haste::default(), Instant::now());
        let is_due: Vec<_> = (0..4).map(|step| haste.is_due(start, 3000 + 40 * step, 6400, 6400)).collect();
        assert_eq!(is_due, [false, false, false, true]);
    }
}
