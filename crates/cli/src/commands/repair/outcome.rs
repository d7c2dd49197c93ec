//! The steps of a repair, and the state of the machine after them.

use freehold_monitor::verdict::{BlockRequest, RepairPlan, RepairStep};
use serde::Serialize;

/// How a repair ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Ending {
    /// There were enough blocks before.
    Enough,
    /// There are enough blocks now.
    Done,
    /// The plan was to be shown only.
    Planned,
    /// The answer was no.
    Declined,
    /// No step would make enough; nothing was changed.
    Cannot,
    /// The steps did not make enough.
    Short,
    /// A signal came.
    Interrupted,
    /// The plan is unknown; nothing was changed.
    Unknown,
}

impl Ending {
    /// Returns the exit code.
    pub(super) fn exit_code(self) -> u8 {
        match self {
            Self::Enough | Self::Done => 0,
            Self::Planned | Self::Declined => 1,
            Self::Cannot | Self::Short => 2,
            Self::Interrupted | Self::Unknown => 3,
        }
    }
}

/// A step, and its result.
#[derive(Clone, Debug, Serialize)]
pub(super) struct DoneStep {
    #[serde(flatten)]
    pub(super) step: RepairStep,
    /// Blocks that requests could have before.
    pub(super) before: u64,
    /// Blocks that requests could have after it.
    pub(super) observed: u64,
    /// True if it was stopped because there were enough blocks.
    pub(super) stopped_early: bool,
    /// How long it took, in milliseconds.
    pub(super) took_ms: f64,
    /// Pages that the kernel migrated meanwhile.
    pub(super) pages_migrated: u64,
    /// Pages by which page cache became smaller meanwhile.
    pub(super) pages_dropped: u64,
    /// Parts in which it ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parts: Option<u64>,
    /// The longest part, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) longest_part_ms: Option<f64>,
    /// True if parts freed nothing before the kernel had compacted all.
    pub(super) gave_up: bool,
    /// True if all clean page cache was dropped, as the kernel takes no amount.
    pub(super) dropped_all: bool,
    /// How long other tasks waited for memory meanwhile, in milliseconds (pressure, `some`); `None` where
    /// the step itself counts as waiting, or the kernel does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) others_waited_ms: Option<f64>,
}

/// The outcome of a repair.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Outcome {
    pub(super) ending: Ending,
    pub(super) exit_code: u8,
    /// The answer in a sentence.
    pub(super) answer: String,
    pub(super) request: BlockRequest,
    /// Blocks that requests could have before.
    pub(super) before: u64,
    /// Blocks that requests can have now.
    pub(super) now: u64,
    /// The first plan.
    pub(super) plan: RepairPlan,
    /// The steps taken.
    pub(super) steps: Vec<DoneStep>,
    /// The owners of the memory to free, if no step helps.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) relief: Vec<String>,
    /// Files that could not be read.
    pub(super) missing: Vec<String>,
}
