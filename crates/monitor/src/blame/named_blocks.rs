//! Of how many kept blocks it is known by whom.

use serde::Serialize;

/// How many kept blocks have a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct NamedBlocks {
    /// Blocks of which every unmovable page has one.
    pub whole: u64,
    /// Blocks of which some have one.
    pub partly: u64,
    /// Blocks of which none has one.
    pub not: u64,
}

impl NamedBlocks {
    /// Returns how many blocks these are.
    pub(super) fn count(self) -> u64 {
        self.whole + self.partly + self.not
    }
}
