//! The verdict on a request for blocks.

use freehold_linux::pageblocks::Charge;
use serde::Serialize;

use super::doubt::Doubt;
use super::forecast::Forecast;
use super::holders::Holder;
use super::range_map::RangeMap;
use super::request::BlockRequest;
use super::step::RepairPlan;
use super::supply::{Supply, ZoneSupply};

/// What it takes until the blocks are free, as far as the bounds or the probability say.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// They are free.
    AvailableNow,
    /// They are free once the kernel has set up more memory (`CONFIG_DEFERRED_STRUCT_PAGE_INIT`).
    AfterSetup,
    /// They are free after compaction.
    AfterCompaction,
    /// They are free after clean page cache is dropped.
    AfterReclaim,
    /// They are free after clean page cache is dropped and memory compacted, or the request gets them with at least 90 %.
    AfterReclaimAndCompaction,
    /// Neither is likely: that reclaim and compaction for the request make them, or that they do not.
    Undecided,
    /// They are free only after memory in use is freed or the machine reboots, or the request gets them with less than 10 %.
    NotBeforeFreed,
    /// The readings do not suffice to tell.
    Unknown,
}

impl State {
    /// Every state.
    pub const ALL: [Self; 8] = [
        Self::AvailableNow,
        Self::AfterSetup,
        Self::AfterCompaction,
        Self::AfterReclaim,
        Self::AfterReclaimAndCompaction,
        Self::Undecided,
        Self::NotBeforeFreed,
        Self::Unknown,
    ];

    /// Returns the state's name, as JSON and metrics have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AvailableNow => "available-now",
            Self::AfterSetup => "after-setup",
            Self::AfterCompaction => "after-compaction",
            Self::AfterReclaim => "after-reclaim",
            Self::AfterReclaimAndCompaction => "after-reclaim-and-compaction",
            Self::Undecided => "undecided",
            Self::NotBeforeFreed => "not-before-freed",
            Self::Unknown => "unknown",
        }
    }

    /// Returns the word for the exit code, as monitoring plugins print it.
    pub fn word(self) -> &'static str {
        ["OK", "WARNING", "CRITICAL", "UNKNOWN"][usize::from(self.exit_code())]
    }

    /// Returns the exit code of a monitoring plugin: 0 fine, 1 warning, 2 critical, 3 unknown.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::AvailableNow => 0,
            Self::AfterSetup
            | Self::AfterCompaction
            | Self::AfterReclaim
            | Self::AfterReclaimAndCompaction
            | Self::Undecided => 1,
            Self::NotBeforeFreed => 2,
            Self::Unknown => 3,
        }
    }
}

/// Whether and how one node can give all the requested blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct NodeVerdict {
    /// NUMA node.
    pub node: u32,
    /// How the blocks can be had of this node alone.
    pub state: State,
    /// The blocks that requests can have of it.
    pub supply: Supply,
}

/// Whether and how a machine can give the requested blocks, and why.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Verdict {
    /// How the blocks can be had.
    pub state: State,
    /// [`State::exit_code`].
    pub exit_code: u8,
    /// The request.
    pub request: BlockRequest,
    /// The one thing to do, a sentence; `None` if the blocks can be had now.
    pub action: Option<String>,
    /// The reasons, a sentence each.
    pub reason: Vec<String>,
    /// The blocks that requests can have.
    pub supply: Supply,
    /// How many blocks the request will get; `None` for contiguous ranges, and if pageblocks are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forecast: Option<Forecast>,
    /// Why the result of compaction is not known within 5 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undecided: Option<Doubt>,
    /// What `freehold repair` would do.
    pub plan: RepairPlan,
    /// Who must let go of memory, if nothing else helps: a sentence each, the largest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub relief: Vec<String>,
    /// The blocks of each zone before the watermarks are taken off.
    pub zones: Vec<ZoneSupply>,
    /// Each requested node by itself, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeVerdict>,
    /// The contiguous ranges, if the request is for blocks larger than the buddy allocator's largest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranges: Option<RangeMap>,
    /// Holders of pageblocks, first the one whose pages alone hold the most pageblocks.
    pub holders: Vec<Holder>,
    /// Cgroups charged for unmovable pages in the pageblocks that are nearest to becoming free.
    pub charges: Vec<Charge>,
    /// What could not be read, a sentence each.
    pub missing: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_json() {
        for state in State::ALL {
            assert_eq!(serde_json::to_value(state).unwrap(), state.name());
        }
    }
}
