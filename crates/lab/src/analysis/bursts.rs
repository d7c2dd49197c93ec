//! Bursts of allocations, measured in windows of 1, 10 and 100 ms.

use serde::Serialize;

/// The number of windows of one length in a window of the next length.
const RATIO: u64 = 10;

/// The length of the shortest windows.
///
/// Units: nanoseconds.
const SHORTEST_NS: u64 = 1_000_000;

/// Allocations in consecutive windows of one length, from the first event on. Windows without an allocation
/// count too.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Burst {
    /// Length of a window in nanoseconds.
    pub window_ns: u64,
    /// Windows from the first event to the last.
    pub windows: u64,
    /// Mean number of allocations in a window.
    pub mean: f64,
    /// Allocations in the fullest window.
    pub peak: u64,
    /// Variance of the allocations in a window, divided by the mean: 1 if allocations are independent of each
    /// other, more if they arrive in bursts. `None` without allocations.
    pub dispersion: Option<f64>,
}

/// Counts events in windows of all lengths.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bursts {
    start_ns: u64,
    /// Number of the current shortest window, and where it ends.
    window: u64,
    end_ns: u64,
    count: u64,
    lengths: [Length; 3],
}

#[derive(Clone, Copy, Debug, Default)]
struct Length {
    /// Number of the current window.
    window: u64,
    count: u64,
    sum: u64,
    squares: u128,
    peak: u64,
}

impl Length {
    /// Adds `count` to a window, which is the current one or a later one.
    fn add(&mut self, window: u64, count: u64) {
        if window != self.window {
            self.close();
            self.window = window;
        }
        self.count += count;
    }

    fn close(&mut self) {
        self.sum += self.count;
        self.squares += u128::from(self.count) * u128::from(self.count);
        self.peak = self.peak.max(self.count);
        self.count = 0;
    }
}

impl Bursts {
    pub(super) fn new(start_ns: u64) -> Self {
        let end_ns = start_ns.saturating_add(SHORTEST_NS);
        Self { start_ns, window: 0, end_ns, count: 0, lengths: [Length::default(); 3] }
    }

    /// Counts one allocation. Times must not decrease.
    #[inline]
    pub(super) fn add(&mut self, time_ns: u64) {
        if time_ns >= self.end_ns {
            self.close();
            self.window = (time_ns - self.start_ns) / SHORTEST_NS;
            self.end_ns = self.start_ns.saturating_add((self.window + 1).saturating_mul(SHORTEST_NS));
        }
        self.count += 1;
    }

    fn close(&mut self) {
        let mut window = self.window;
        for length in &mut self.lengths {
            length.add(window, self.count);
            window /= RATIO;
        }
        self.count = 0;
    }

    /// Returns the counts of all windows up to the trace's last event.
    pub(super) fn finish(mut self, last_ns: u64) -> Vec<Burst> {
        self.close();
        let mut window_ns = SHORTEST_NS;
        let mut bursts = Vec::new();
        for mut length in self.lengths {
            length.close();
            let windows = (last_ns - self.start_ns) / window_ns + 1;
            let mean = length.sum as f64 / windows as f64;
            let variance = length.squares as f64 / windows as f64 - mean * mean;
            let dispersion = (length.sum > 0).then(|| variance.max(0.0) / mean);
            bursts.push(Burst { window_ns, windows, mean, peak: length.peak, dispersion });
            window_ns *= RATIO;
        }
        bursts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dispersion_is_high_for_bursts_and_empty_windows_count() {
        let mut stream = Bursts::new(500);
        let mut burst = Bursts::new(500);
        for number in 0..100 {
            stream.add(500 + number * SHORTEST_NS);
            burst.add(500 + 99 * SHORTEST_NS);
        }
        let last_ns = 500 + 99 * SHORTEST_NS + 1;
        let stream = stream.finish(last_ns);
        let expected = [(100, 1.0, 1), (10, 10.0, 10), (1, 100.0, 100)];
        for (found, expected) in stream.iter().zip(expected) {
            assert_eq!((found.windows, found.mean, found.peak), expected);
            assert_eq!(found.dispersion, Some(0.0));
        }
        let burst = burst.finish(last_ns);
        // One window of 100 and 99 empty ones: a mean of 1, a variance of 99.
        assert_eq!((burst[0].peak, burst[0].mean, burst[0].dispersion), (100, 1.0, Some(99.0)));
    }

    #[test]
    fn times_at_both_ends_of_the_clock_are_counted() {
        let mut bursts = Bursts::new(0);
        bursts.add(0);
        bursts.add(u64::MAX);
        let found = bursts.finish(u64::MAX);
        assert_eq!((found[0].peak, found[0].windows), (1, u64::MAX / SHORTEST_NS + 1));
        assert!(
            Bursts::new(7).finish(7).iter().all(|burst| burst.dispersion.is_none() && burst.windows == 1)
        );
    }
}
