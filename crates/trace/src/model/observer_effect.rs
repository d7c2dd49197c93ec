//! The cost of recording for the recorded command.

use serde::{Deserialize, Serialize};

/// The times of a command that was run several times without and with recording.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ObserverEffect {
    /// The number of runs without recording, and the number of runs with it.
    pub runs: u32,
    /// The times without recording.
    pub without: RunTimes,
    /// The times with recording.
    pub with: RunTimes,
}

/// The times of a command over several runs.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct RunTimes {
    /// Wall time from start to end.
    pub wall_ns: Quartiles,
    /// User and system time of the command and of the children that it waited for.
    pub cpu_ns: Quartiles,
}

/// The quartiles of a set of numbers.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Quartiles {
    /// A quarter of the numbers is at most this.
    pub first: f64,
    /// Half of the numbers is at most this.
    pub median: f64,
    /// Three quarters of the numbers are at most this.
    pub third: f64,
}

impl Quartiles {
    /// Returns the quartiles of `numbers`, interpolated between neighbours. All are 0 if there are no numbers.
    pub fn of(numbers: &[u64]) -> Self {
        let mut sorted = numbers.to_vec();
        sorted.sort_unstable();
        let at = |share: f64| {
            let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
            let place = share * last as f64;
            let below = place.floor();
            let (low, high) = (sorted[below as usize] as f64, sorted[place.ceil() as usize] as f64);
            low + (high - low) * (place - below)
        };
        Self { first: at(0.25), median: at(0.5), third: at(0.75) }
    }
}

impl ObserverEffect {
    /// Returns the relative increase of the median wall time with recording, 0.1 for 10 %. Returns `None` if no time
    /// was measured.
    pub fn wall_slowdown(&self) -> Option<f64> {
        slowdown(self.without.wall_ns, self.with.wall_ns)
    }

    /// Returns the relative increase of the median CPU time with recording. Returns `None` if no CPU time was used.
    pub fn cpu_slowdown(&self) -> Option<f64> {
        slowdown(self.without.cpu_ns, self.with.cpu_ns)
    }
}

fn slowdown(without: Quartiles, with: Quartiles) -> Option<f64> {
    (without.median > 0.0).then(|| with.median / without.median - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_lie_between_neighbours() {
        assert_eq!(Quartiles::of(&[]), Quartiles::default());
        assert_eq!(Quartiles::of(&[7]), Quartiles { first: 7.0, median: 7.0, third: 7.0 });
        assert_eq!(Quartiles::of(&[40, 10, 20, 30]), Quartiles { first: 17.5, median: 25.0, third: 32.5 });
        assert_eq!(Quartiles::of(&[5, 1, 3]), Quartiles { first: 2.0, median: 3.0, third: 4.0 });
    }

    #[test]
    fn slowdown_is_relative_to_the_time_without_recording() {
        let times = |wall: &[u64]| RunTimes { wall_ns: Quartiles::of(wall), ..RunTimes::default() };
        let effect = ObserverEffect { runs: 2, without: times(&[100, 200]), with: times(&[165]) };
        assert!((effect.wall_slowdown().unwrap() - 0.1).abs() < 1e-9);
        assert_eq!(effect.cpu_slowdown(), None, "no CPU time was measured");
    }
}
