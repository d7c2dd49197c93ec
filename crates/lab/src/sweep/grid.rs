//! The grid of settings of a sweep: all combinations of their values.

use freehold_measure::grouped;

use super::knobs::{Knob, Value};
use super::row::SweepRow;
use crate::replay::Lab;

/// The largest number of runs in a sweep.
const MOST_RUNS: usize = 1_000_000;

/// The settings do not make a valid sweep.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum GridError {
    /// A setting is given twice.
    #[error("{knob} is given twice; name all its values at once")]
    Twice {
        /// The setting.
        knob: &'static str,
    },
    /// The sweep has too many runs.
    #[error("more than {} runs; vary less at once", grouped(*most as u64))]
    TooMany {
        /// The largest number of runs.
        most: usize,
    },
}

/// The settings that a sweep varies, with their values.
#[derive(Clone, Debug)]
pub struct Grid {
    /// The knobs with their values; no knob twice.
    pub varied: Vec<(Knob, Vec<Value>)>,
}

impl Grid {
    /// Returns the grid of some settings for `traces` traces.
    ///
    /// # Errors
    /// A setting is given twice, or the sweep has more than a million runs.
    pub fn new(varied: Vec<(Knob, Vec<Value>)>, traces: usize) -> Result<Self, GridError> {
        for (number, (knob, _)) in varied.iter().enumerate() {
            if varied[..number].iter().any(|(earlier, _)| earlier.name == knob.name) {
                return Err(GridError::Twice { knob: knob.name });
            }
        }
        let grid = Self { varied };
        let runs = grid.combinations().and_then(|runs| runs.checked_mul(traces));
        match runs.filter(|&runs| runs <= MOST_RUNS) {
            Some(_) => Ok(grid),
            None => Err(GridError::TooMany { most: MOST_RUNS }),
        }
    }

    /// Returns the numbers of the runs of a trace.
    pub fn runs_of(&self, trace: usize) -> std::ops::Range<usize> {
        let combinations = self.combinations().unwrap_or(0);
        trace * combinations..(trace + 1) * combinations
    }

    /// Returns the settings of a run.
    pub(super) fn settings_of(&self, run: usize) -> Vec<(Knob, Value)> {
        self.combination(run % self.combinations().unwrap_or(1).max(1))
    }

    /// Returns the row of a run of a trace, without measures.
    pub fn row(&self, run: usize, trace: &str) -> SweepRow {
        let settings = self.settings_of(run).into_iter();
        SweepRow {
            run,
            trace: trace.to_owned(),
            settings: settings.map(|(knob, value)| (knob.name.to_owned(), value)).collect(),
            error: None,
            measures: Vec::new(),
        }
    }

    /// Returns the reason if one of the settings cannot be varied on a trace; `None` if all can.
    pub fn unanswerable(&self, lab: &Lab<'_>) -> Option<String> {
        self.varied.iter().find_map(|(knob, _)| lab.cannot_vary(knob))
    }

    /// Returns true if one of the settings cannot be varied on some traces.
    pub fn depends_on_trace(&self) -> bool {
        self.varied.iter().any(|(knob, _)| knob.depends_on_trace())
    }

    /// Returns the number of combinations; `None` if it is too large to count.
    pub fn combinations(&self) -> Option<usize> {
        self.varied.iter().try_fold(1_usize, |all, (_, values)| all.checked_mul(values.len()))
    }

    /// Returns the settings of the combination with this number. The last knob changes fastest.
    pub fn combination(&self, mut number: usize) -> Vec<(Knob, Value)> {
        let mut settings: Vec<_> = self
            .varied
            .iter()
            .rev()
            .map(|(knob, values)| {
                let value = values[number % values.len()].clone();
                number /= values.len();
                (*knob, value)
            })
            .collect();
        settings.reverse();
        settings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_has_every_combination_once() {
        let knob = |name: &str| Knob::from_name(name).expect(name);
        let numbers = |numbers: &[u64]| numbers.iter().copied().map(Value::Number).collect::<Vec<_>>();
        let varied = vec![
            (knob("pageblock_order"), numbers(&[9, 7])),
            (knob("watermark_boost_factor"), numbers(&[0, 1, 2])),
        ];
        let grid = Grid { varied };
        assert_eq!(grid.combinations(), Some(6));
        let all: Vec<_> = (0..6)
            .map(|number| {
                grid.combination(number)
                    .iter()
                    .map(|(_, value)| value.to_string())
                    .collect::<Vec<_>>()
                    .join(" ")
            })
            .collect();
        assert_eq!(all, ["9 0", "9 1", "9 2", "7 0", "7 1", "7 2"]);
        assert_eq!(Grid { varied: Vec::new() }.combinations(), Some(1));
    }
}
