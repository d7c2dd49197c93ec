//! The verdict: what is answered to what was asked.

use freehold_linux::pageblocks::Charge;
use serde::Serialize;

use super::asked::Asked;
use super::holders::Holder;
use super::supply::{Supply, ZoneSupply};

/// How the blocks can be had.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// They are free.
    AvailableNow,
    /// The kernel still has to set memory up.
    AfterSetup,
    /// Compaction makes them.
    AfterCompaction,
    /// Dropping clean page cache makes them.
    AfterReclaim,
    /// Dropping clean page cache, then compaction makes them.
    AfterReclaimAndCompaction,
    /// Not before somebody frees memory, or the machine reboots.
    NotBeforeFreed,
    /// It could not be told.
    Unknown,
}

impl State {
    /// The exit code that monitoring plugins have for it: 0 fine, 1 a warning, 2 critical, 3 unknown.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::AvailableNow => 0,
            Self::AfterSetup
            | Self::AfterCompaction
            | Self::AfterReclaim
            | Self::AfterReclaimAndCompaction => 1,
            Self::NotBeforeFreed => 2,
            Self::Unknown => 3,
        }
    }
}

/// How a machine can give what is asked for, and why.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Verdict {
    /// How it can.
    pub state: State,
    /// [`State::exit_code`].
    pub exit_code: u8,
    /// What was asked.
    pub asked: Asked,
    /// Why, in sentences.
    pub reason: Vec<String>,
    /// The blocks that requests can have.
    pub supply: Supply,
    /// The same by zone, watermarks apart.
    pub zones: Vec<ZoneSupply>,
    /// Who holds pageblocks back, first who frees most pageblocks by going.
    pub holders: Vec<Holder>,
    /// Cgroups that the kernel's own pages are charged to, in the pageblocks nearest to becoming free.
    pub charges: Vec<Charge>,
    /// What could not be read, a sentence each.
    pub missing: Vec<String>,
}
