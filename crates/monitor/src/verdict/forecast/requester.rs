//! Who requests blocks.

use serde::Serialize;

/// Who requests blocks. Each has its own watermark, and its own way to reclaim and compact.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Requester {
    /// Three writes to `nr_hugepages`. Each ends at the first block that fails.
    #[default]
    Hugetlb,
    /// Page faults in memory that wants transparent huge pages, and may wait for direct compaction.
    Thp,
    /// The same where faults may not wait: they get what is free.
    ThpNoWait,
    /// `freehold repair`, and then hugetlb.
    Repair,
    /// An allocation of the kernel that may wait, such as `GFP_KERNEL`. It is not calibrated: it has the numbers of hugetlb.
    Alloc,
}

impl Requester {
    /// Returns the request in words, such as `for hugetlb`.
    pub(in crate::verdict) const fn words(self) -> &'static str {
        match self {
            Self::Hugetlb => "for hugetlb",
            Self::Thp => "for transparent huge pages",
            Self::ThpNoWait => "for transparent huge pages, whose faults do not wait (`defrag`)",
            Self::Repair => "after `freehold repair`",
            Self::Alloc => "for an allocation that may wait",
        }
    }
}
