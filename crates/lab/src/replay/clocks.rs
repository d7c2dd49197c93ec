//! Clocks of a replay: the times of events come in, due work goes out.

const SECOND_NS: u64 = 1_000_000_000;

/// The time between two calls that tidy pageblocks.
const TIDYING_STEP_NS: u64 = 100_000_000;

/// A clock that is due one step after the start, and then one step after each time it was due.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TidyingClock {
    due_ns: u64,
}

impl TidyingClock {
    pub(crate) fn new(start_ns: u64) -> Self {
        Self { due_ns: start_ns.saturating_add(TIDYING_STEP_NS) }
    }

    /// Returns the next due time.
    pub(crate) fn due_ns(self) -> u64 {
        self.due_ns
    }

    /// Returns true if the clock is due, and sets the next due time.
    #[inline]
    pub(crate) fn is_due(&mut self, now_ns: u64) -> bool {
        let is_due = now_ns >= self.due_ns;
        if is_due {
            self.due_ns = now_ns.saturating_add(TIDYING_STEP_NS);
        }
        is_due
    }
}

/// A clock that is due at each whole second after the start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RefreshClock {
    due_ns: u64,
}

impl RefreshClock {
    pub(crate) fn new(start_ns: u64) -> Self {
        Self { due_ns: start_ns.saturating_add(SECOND_NS) }
    }

    /// Returns the next due time.
    pub(crate) fn due_ns(self) -> u64 {
        self.due_ns
    }

    /// Returns the number of seconds that have ended since the last call.
    #[inline]
    pub(crate) fn seconds(&mut self, now_ns: u64) -> u64 {
        let Some(late_ns) = now_ns.checked_sub(self.due_ns) else { return 0 };
        let seconds = late_ns / SECOND_NS + 1;
        self.due_ns = self.due_ns.saturating_add(seconds.saturating_mul(SECOND_NS));
        seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tidying_is_due_one_step_after_the_last_time() {
        let mut clock = TidyingClock::new(5);
        assert!(!clock.is_due(100_000_004) && clock.is_due(100_000_007));
        assert_eq!(clock.due_ns(), 200_000_007);
    }

    #[test]
    fn seconds_are_counted_from_the_start() {
        let mut clock = RefreshClock::new(5);
        assert_eq!([1_000_000_004, 1_000_000_005, 1_500_000_000].map(|now| clock.seconds(now)), [0, 1, 0]);
        assert_eq!(clock.seconds(4_000_000_005), 3);
        assert_eq!(clock.due_ns(), 5_000_000_005);
    }
}
