//! The times of events in an anonymized trace.

use fastrand::Rng;

use super::moments::Moments;
use crate::replay::Lab;

/// The time of the first event of an anonymized trace. A snapshot may be earlier.
const FIRST_NS: u64 = 1_000_000_000;

/// A clock with an arbitrary zero.
#[derive(Clone, Copy, Debug)]
pub(super) struct SharedClock {
    first_ns: u64,
}

impl SharedClock {
    /// Converts a time of the trace's clock; returns 0 if it is a second or more before the first event.
    pub(super) fn time_ns(self, time_ns: u64) -> u64 {
        match self.first_ns.checked_sub(FIRST_NS) {
            Some(earlier_ns) => time_ns.saturating_sub(earlier_ns),
            None => time_ns.saturating_add(FIRST_NS - self.first_ns),
        }
    }
}

/// The times of events in an anonymized trace.
#[derive(Clone, Debug)]
pub(super) struct SharedTimes {
    pub(super) clock: SharedClock,
    /// The time of each event; never decreases.
    pub(super) times_ns: Vec<u64>,
    /// The number of events that keep their time, because a replay depends on it.
    pub(super) kept: usize,
    pub(super) mean_move_ns: f64,
}

impl SharedTimes {
    /// Moves each time by up to `blur_ns`, without crossing a time that a replay depends on.
    ///
    /// Sorting the moved times does not move any of them by more than the blur.
    pub(super) fn new(lab: &Lab<'_>, blur_ns: u64, seed: u64) -> Self {
        let events = lab.trace.events;
        let Moments { kept, bounds_ns } = Moments::new(lab);
        let first_ns = events.first().map_or(lab.trace.start.time_ns, |event| event.time_ns);
        let clock = SharedClock { first_ns };
        let mut random = Rng::with_seed(seed);
        let mut times_ns = Vec::with_capacity(events.len());
        let (mut passed, mut number) = (0, 0);
        events.for_each(|event| {
            let time_ns = event.time_ns;
            while bounds_ns.get(passed).is_some_and(|&bound_ns| bound_ns <= time_ns) {
                passed += 1;
            }
            let least_ns = passed.checked_sub(1).map_or(0, |before| bounds_ns[before]);
            let most_ns = bounds_ns.get(passed).map_or(u64::MAX, |&bound_ns| bound_ns - 1);
            let from_ns = time_ns.saturating_sub(blur_ns).max(least_ns);
            let to_ns = time_ns.saturating_add(blur_ns).min(most_ns);
            times_ns.push(if kept[number] { time_ns } else { random.u64(from_ns..=to_ns) });
            number += 1;
        });
        times_ns.sort_unstable();
        let mut moved_ns = 0_u128;
        for (time_ns, event) in times_ns.iter_mut().zip(events.iter()) {
            moved_ns += u128::from(time_ns.abs_diff(event.time_ns));
            *time_ns = clock.time_ns(*time_ns);
        }
        Self {
            clock,
            kept: kept.iter().filter(|&&kept| kept).count(),
            mean_move_ns: moved_ns as f64 / times_ns.len().max(1) as f64,
            times_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_event_is_at_one_second_and_earlier_times_stay_earlier() {
        let clock = SharedClock { first_ns: 5_000_000_000 };
        assert_eq!(
            [0, 4_999_999_999, 5_000_000_000, 6_000_000_000].map(|ns| clock.time_ns(ns)),
            [0, 999_999_999, 1_000_000_000, 2_000_000_000]
        );
        let early = SharedClock { first_ns: 3 };
        assert_eq!([0, 3, 4].map(|ns| early.time_ns(ns)), [999_999_997, 1_000_000_000, 1_000_000_001]);
    }
}
