//! The steps of a repair.

use serde::Serialize;

/// What one step does.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(tag = "work", rename_all = "kebab-case")]
pub enum RepairWork {
    /// Returns free pages on per-CPU lists to their zones, where they can merge and be moved to.
    DrainLists {
        /// Pages on per-CPU lists.
        pages: u64,
    },
    /// Writes dirty page cache back.
    WriteBack {
        /// Pages that are dirty or under writeback.
        pages: u64,
    },
    /// Drops clean page cache.
    DropPageCache {
        /// Pages that are to be dropped, of those nodes.
        pages: u64,
        /// NUMA nodes whose page cache is dropped.
        nodes: Vec<u32>,
    },
    /// Compacts memory.
    Compact {
        /// NUMA nodes that are compacted.
        nodes: Vec<u32>,
    },
}

impl RepairWork {
    /// Returns what the step does, in words such as `compacts`.
    pub fn verb(&self) -> &'static str {
        match self {
            Self::DrainLists { .. } => "drains per-CPU lists",
            Self::WriteBack { .. } => "writes back",
            Self::DropPageCache { .. } => "drops page cache",
            Self::Compact { .. } => "compacts",
        }
    }
}

/// One step, and its forecast.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct RepairStep {
    /// What it does.
    #[serde(flatten)]
    pub work: RepairWork,
    /// Blocks that requests can have after it: a lower bound, or an upper bound if `perhaps`.
    pub predicted: u64,
    /// True if the forecast is an upper bound: it holds if all pages whose kind no flag tells turn out to be
    /// free on per-CPU lists, or dirty page cache.
    pub perhaps: bool,
}

/// What a repair would do for a request.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum RepairPlan {
    /// Nothing: the blocks can be had now.
    Enough,
    /// These steps in turn, until there are enough.
    Steps {
        /// The steps.
        steps: Vec<RepairStep>,
    },
    /// Nothing: the kernel empties contiguous ranges only for requests to hugetlb's pool.
    Pool {
        /// The size of a page of the pool in KiB.
        page_kib: u64,
        /// Ranges that can be had by it, the lower bound.
        predicted: u64,
    },
    /// Nothing: no step would make enough.
    Impossible,
    /// The readings do not suffice to tell.
    Unknown,
}
