//! The times of a command, in one run and over several.

use freehold_trace::{ObserverEffect, Quartiles, RunTimes};

/// The times of one run of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct RunCost {
    /// Wall time from start to end.
    pub(super) wall_ns: u64,
    /// User and system time, children included.
    pub(super) cpu_ns: u64,
}

/// The times of each run.
#[derive(Default)]
pub(super) struct Costs {
    pub(super) without: Vec<RunCost>,
    pub(super) with: Vec<RunCost>,
}

impl Costs {
    /// Returns the quartiles of the runs without and with recording.
    pub(super) fn effect(&self) -> ObserverEffect {
        ObserverEffect {
            runs: self.without.len().min(self.with.len()) as u32,
            without: times(&self.without),
            with: times(&self.with),
        }
    }
}

fn times(costs: &[RunCost]) -> RunTimes {
    let of = |number: fn(&RunCost) -> u64| Quartiles::of(&costs.iter().map(number).collect::<Vec<_>>());
    RunTimes { wall_ns: of(|cost| cost.wall_ns), cpu_ns: of(|cost| cost.cpu_ns) }
}
