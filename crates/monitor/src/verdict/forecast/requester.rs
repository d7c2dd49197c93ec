//! Who requests blocks.

use serde::Serialize;

use super::super::highest_zone::HighestZone;

/// Who requests blocks. Each has its own watermark, and its own way to reclaim and compact.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize)]
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
    /// An allocation of the kernel that may not wait, such as `GFP_ATOMIC`: it gets what is free, also below the min watermark.
    Atomic,
    /// Page faults that take single pages. It is not calibrated: reclaim for one page does not give up before the OOM killer runs.
    Pages,
    /// A request for contiguous ranges, such as `alloc_contig_pages`.
    Range,
}

impl Requester {
    /// Returns the watermark of this requester in a zone whose min watermark is `min`.
    ///
    /// Linux counterpart: `__zone_watermark_ok`, `ALLOC_MIN_RESERVE` and `ALLOC_NON_BLOCK`.
    pub(in crate::verdict) const fn mark(self, min: u64) -> u64 {
        match self {
            Self::Atomic => {
                let half = min - min / 2;
                half - half / 4
            }
            _ => min,
        }
    }

    /// Returns the highest zone that the requester may use, unless it is said otherwise.
    pub const fn highest_zone(self) -> HighestZone {
        match self {
            Self::Alloc | Self::Atomic => HighestZone::Kernel,
            _ => HighestZone::User,
        }
    }

    /// Returns the request in words, such as `for hugetlb`.
    pub(in crate::verdict) const fn words(self) -> &'static str {
        match self {
            Self::Hugetlb => "for hugetlb",
            Self::Thp => "for transparent huge pages",
            Self::ThpNoWait => "for transparent huge pages, whose faults do not wait (`defrag`)",
            Self::Repair => "after `freehold repair`",
            Self::Alloc => "for an allocation that may wait",
            Self::Atomic => "for an allocation that may not wait",
            Self::Pages => "for single pages",
            Self::Range => "for contiguous ranges",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_that_may_not_wait_go_below_the_min_watermark() {
        assert_eq!([Requester::Atomic, Requester::Alloc].map(|by| by.mark(1000)), [375, 1000]);
        assert_eq!(Requester::Atomic.highest_zone(), HighestZone::Kernel);
    }
}
