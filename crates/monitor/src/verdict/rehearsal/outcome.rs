//! The result of a rehearsal.

use serde::Serialize;

use super::super::answer::State;
use super::super::request::BlockRequest;

/// How a launch, or one of its requests, starts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// Every request finds free memory.
    AtOnce,
    /// It starts with at least 90 %, after the kernel has reclaimed and compacted for it.
    Slowly,
    /// It may start, or fail.
    Perhaps,
    /// The readings do not suffice to tell.
    Unknown,
    /// It starts with less than 10 %.
    Fails,
}

impl Start {
    /// Returns how a request in this state starts, which is served with this probability, if it is known.
    pub(super) fn of(state: State, probability: Option<f64>) -> Self {
        let is_likely = probability.is_none_or(|probability| probability >= 0.9);
        match state {
            State::AvailableNow => Self::AtOnce,
            State::NotBeforeFreed => Self::Fails,
            State::Unknown => Self::Unknown,
            State::Undecided => Self::Perhaps,
            _ if is_likely => Self::Slowly,
            _ => Self::Perhaps,
        }
    }

    /// Returns the exit code of a monitoring plugin: 0 fine, 1 warning, 2 critical, 3 unknown.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::AtOnce => 0,
            Self::Slowly | Self::Perhaps => 1,
            Self::Fails => 2,
            Self::Unknown => 3,
        }
    }

    /// Returns the outcome in words, such as `starts slowly`.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::AtOnce => "starts",
            Self::Slowly => "starts slowly",
            Self::Perhaps => "may fail",
            Self::Unknown => "unknown",
            Self::Fails => "fails",
        }
    }
}

/// One request of the launch, with the numbers that decide: on all blocks of one size or larger that are needed up to it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LineOutcome {
    /// The number of its line.
    pub line: usize,
    /// The line.
    pub text: String,
    /// How it starts.
    pub start: Start,
    /// True if the kernel never serves it as the machine is set up.
    pub never_served: bool,
    /// The probability that it is served, if it is known.
    pub probability: Option<f64>,
    /// The same after `freehold repair`.
    pub after_repair: Option<f64>,
    /// The size of the blocks. Units: bytes.
    pub block_bytes: u64,
    /// The blocks that are needed up to this line, without those in pools.
    pub needed: u64,
    /// The blocks that a pool of huge pages has free for this line.
    pub in_pool: u64,
    /// The blocks that are free before the launch.
    pub free_now: u64,
}

/// Whether a launch starts on a machine, and what fails first.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Rehearsal {
    /// How it starts.
    pub start: Start,
    /// [`Start::exit_code`].
    pub exit_code: u8,
    /// The probability that every request is served, if it is known.
    pub probability: Option<f64>,
    /// The same after `freehold repair`.
    pub after_repair: Option<f64>,
    /// The line of the first request that fails, or of the one that is the most likely to fail or wait.
    pub first: Option<usize>,
    /// What is needed up to that line and what there is, or why that line is never served; a sentence.
    pub reason: Option<String>,
    /// The one thing to do before the launch, a sentence; `None` if it starts from free memory, or nothing is known to help.
    pub action: Option<String>,
    /// What `freehold repair` has to make, if a repair helps.
    pub repair: Option<BlockRequest>,
    /// Bytes that more requests can have after the launch, if it starts: free, or taken back by reclaim.
    pub left_bytes: Option<u64>,
    /// Every request, in order.
    pub lines: Vec<LineOutcome>,
    /// How to fill the pools of huge pages that the launch needs, a sentence each.
    pub pools: Vec<String>,
    /// What could not be read, a sentence each.
    pub missing: Vec<String>,
}
