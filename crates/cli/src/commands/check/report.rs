//! What the command found.

use freehold_monitor::verdict::Verdict;
use serde::Serialize;

use super::try_compaction::CompactionTrial;
use super::try_pool::PoolTrial;

/// A verdict, and what came when it was tried.
#[derive(Serialize)]
pub(super) struct Report {
    /// Where the pageblocks' migratetypes come from: `bpf`, or `inferred` from the pages that they
    /// hold.
    pub(super) types: &'static str,
    /// Where the free blocks come from.
    pub(super) free_from: &'static str,
    #[serde(flatten)]
    pub(super) verdict: Verdict,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tried: Option<Tried>,
}

/// What was tried, and what came.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Tried {
    Compaction(Box<CompactionTrial>),
    Pool(PoolTrial),
}
