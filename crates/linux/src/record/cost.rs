//! What a command took, in one run and in several.

use freehold_trace::{ObserverEffect, Quartiles, RunTimes};

/// What a run of a command took.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct RunCost {
    /// From its start to its end.
    pub(super) wall_ns: u64,
    /// User and system time, its children's included.
    pub(super) cpu_ns: u64,
}

/// What the command took in each run.
#[derive(Default)]
pub(super) struct Costs {
    pub(super) without: Vec<RunCost>,
    pub(super) with: Vec<RunCost>,
}

impl Costs {
    /// The quartiles of the runs without and with recording.
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
