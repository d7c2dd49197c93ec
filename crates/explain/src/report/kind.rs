//! The kinds of reports.

use serde::Serialize;

/// What a report of the kernel is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// `page allocation failure`.
    PageAllocation,
    /// `page allocation stalls`, of kernels 4.9 to 4.14.
    Stall,
    /// A warning in `mm/page_alloc.c`, such as that of a too large order.
    OrderWarning,
    /// The out-of-memory killer, for the whole machine.
    Oom,
    /// The out-of-memory killer, for the nodes of a cpuset or a memory policy.
    OomNodes,
    /// The out-of-memory killer, for a control group.
    OomCgroup,
    /// A failure of vmalloc.
    Vmalloc,
    /// A contiguous range that CMA could not give.
    Cma,
    /// A pool of huge pages that did not become as large as requested.
    HugePool,
    /// A slab cache that got no page.
    Slab,
    /// The allocator of per-CPU memory, without room.
    PerCpu,
    /// The list of code that has allocated most.
    TopAllocators,
    /// A listing of memory without a line that names a request.
    MemInfo,
}

impl Kind {
    /// Returns the name in texts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PageAllocation => "page allocation failure",
            Self::Stall => "page allocation stall",
            Self::OrderWarning => "page allocator warning",
            Self::Oom => "OOM kill",
            Self::OomNodes => "OOM kill on some nodes",
            Self::OomCgroup => "OOM kill in a cgroup",
            Self::Vmalloc => "vmalloc failure",
            Self::Cma => "CMA failure",
            Self::HugePool => "huge page pool too small",
            Self::Slab => "slab allocation failure",
            Self::PerCpu => "per-CPU allocation failure",
            Self::TopAllocators => "list of top allocators",
            Self::MemInfo => "memory listing without a request",
        }
    }

    /// Returns true for the kinds that the kernel prints with its zones.
    pub(crate) const fn has_zones(self) -> bool {
        !matches!(
            self,
            Self::OrderWarning | Self::Cma | Self::HugePool | Self::Slab | Self::PerCpu | Self::TopAllocators
        )
    }

    /// Returns true for the kinds of the out-of-memory killer.
    pub(crate) const fn is_oom(self) -> bool {
        matches!(self, Self::Oom | Self::OomNodes | Self::OomCgroup)
    }
}
