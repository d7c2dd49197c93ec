//! Pages allocated and freed over time, in a bounded number of steps.

use serde::Serialize;

/// The largest number of steps. Longer traces merge pairs of steps.
const STEPS: usize = 512;

/// The length of the first steps as a power of two: 131 µs.
const SHORTEST_SHIFT: u32 = 17;

/// Pages allocated and freed in one step of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct TimeStep {
    /// Pages allocated: unmovable, movable, reclaimable.
    pub allocated: [u64; 3],
    /// Pages freed.
    pub freed: u64,
}

/// Pages allocated and freed over time.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Timeline {
    /// Length of a step in nanoseconds.
    pub step_ns: u64,
    /// The steps, from the first event to the last.
    pub steps: Vec<TimeStep>,
    #[serde(skip)]
    start_ns: u64,
    #[serde(skip)]
    shift: u32,
}

impl Timeline {
    pub(super) fn new(start_ns: u64) -> Self {
        Self {
            step_ns: 1 << SHORTEST_SHIFT,
            steps: Vec::with_capacity(STEPS),
            start_ns,
            shift: SHORTEST_SHIFT,
        }
    }

    /// Returns the step that contains a time. Times must not decrease.
    #[inline]
    pub(super) fn at(&mut self, time_ns: u64) -> &mut TimeStep {
        let mut at = ((time_ns - self.start_ns) >> self.shift) as usize;
        while at >= STEPS {
            self.halve();
            at /= 2;
        }
        if at >= self.steps.len() {
            self.steps.resize(at + 1, TimeStep::default());
        }
        &mut self.steps[at]
    }

    #[cold]
    fn halve(&mut self) {
        let pairs = self.steps.chunks(2).map(|pair| {
            pair.iter().fold(TimeStep::default(), |mut sum, step| {
                for (sum, more) in sum.allocated.iter_mut().zip(step.allocated) {
                    *sum += more;
                }
                sum.freed += step.freed;
                sum
            })
        });
        self.steps = pairs.collect();
        self.shift += 1;
        self.step_ns = 1 << self.shift;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_steps_keeps_all_counts() {
        let mut timeline = Timeline::new(1000);
        for number in 0..5000 {
            timeline.at(1000 + number * 1_000_000).allocated[1] += number;
            timeline.at(1000 + number * 1_000_000).freed += 1;
        }
        assert!(timeline.steps.len() <= STEPS && timeline.steps.len() >= STEPS / 4);
        assert_eq!(timeline.steps.iter().map(|step| step.allocated[1]).sum::<u64>(), 4999 * 5000 / 2);
        assert_eq!(timeline.steps.iter().map(|step| step.freed).sum::<u64>(), 5000);
        timeline.at(u64::MAX).freed += 1;
        assert_eq!(timeline.steps.iter().map(|step| step.freed).sum::<u64>(), 5001);
        assert!(timeline.step_ns.is_power_of_two() && timeline.steps.len() <= STEPS);
    }
}
