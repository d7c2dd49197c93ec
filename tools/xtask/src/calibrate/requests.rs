//! The requests of one state: chosen by its name and by the numbers that `/proc` has, not by a forecast.

use crc32fast::hash;

/// Who requests blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Requester {
    /// Three writes to `nr_hugepages`.
    Hugetlb,
    /// Page faults in memory that wants huge pages.
    Thp,
    /// The same as hugetlb, after page cache was dropped and memory compacted.
    Repair,
}

impl Requester {
    /// Returns the name in rows, which is that of the option `--by` and of the guest's function.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Hugetlb => "hugetlb",
            Self::Thp => "thp",
            Self::Repair => "repair",
        }
    }
}

/// What bounds the numbers of a state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    /// Blocks of 2 MiB on free lists.
    pub(super) free: u64,
    /// The blocks that all memory would make.
    pub(super) all: u64,
}

/// Returns the requests of a state: one at most as large as what is free, one for everything, and five anywhere between both.
pub(super) fn requests(name: &str, range: Range) -> Vec<(Requester, u64)> {
    let between = |salt: u32| {
        let span = range.all.saturating_sub(range.free).max(1);
        range.free + u64::from(hash(format!("{name} {salt}").as_bytes())) % span + 1
    };
    let below = u64::from(hash(format!("{name} free").as_bytes())) % range.free.max(1) + 1;
    let mut found: Vec<_> =
        [below, range.all].into_iter().chain((0..5).map(between)).map(|n| (Requester::Hugetlb, n)).collect();
    found.extend([between(5), between(6), range.all].map(|n| (Requester::Thp, n)));
    found.extend([between(7), range.all].map(|n| (Requester::Repair, n)));
    found.sort_by_key(|&(requester, blocks)| (requester.name(), blocks));
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_the_same_each_time_and_in_range() {
        let range = Range { free: 40, all: 230 };
        let found = requests("a state", range);
        assert_eq!(found, requests("a state", range));
        assert!(found.len() >= 9 && found.iter().all(|&(_, n)| (1..=230).contains(&n)), "{found:?}");
        assert!(requests("full", Range { free: 0, all: 1 }).iter().all(|&(_, n)| n == 1));
    }
}
