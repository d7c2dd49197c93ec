//! How many pages a daemon may move in the background.

/// The part of one CPU's time that moving pages in the background may take: one in so many.
pub(crate) const CPU_SHARE: u64 = 20;

/// The time over which unused time is kept.
const KEPT_NS: u64 = 1_000_000_000;

/// The time that the daemons of all nodes have for moving pages that nobody asked them to move: the same for every era, and as much a page as
/// the recorded machine took.
///
/// Linux counterpart: none; its proactive compaction is bounded by how fragmented a node is, and by pauses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    ns_a_page: u64,
    /// The time that is left; negative after a call that could not be stopped in time.
    left_ns: i64,
    /// The time up to which it was earned.
    earned_to_ns: u64,
}

impl Budget {
    pub(super) fn new(ns_a_page: u64, start_ns: u64) -> Self {
        Self { ns_a_page: ns_a_page.max(1), left_ns: 0, earned_to_ns: start_ns }
    }

    /// Returns the number of pages that may be moved now.
    pub(super) fn pages(&mut self, now_ns: u64) -> u64 {
        let most = (KEPT_NS / CPU_SHARE) as i64;
        let earned_ns = now_ns.saturating_sub(self.earned_to_ns) / CPU_SHARE;
        // What the division leaves is earned next time.
        self.earned_to_ns = self.earned_to_ns.saturating_add(earned_ns.saturating_mul(CPU_SHARE));
        let earned_ns = i64::try_from(earned_ns).unwrap_or(i64::MAX);
        self.left_ns = self.left_ns.saturating_add(earned_ns).min(most);
        u64::try_from(self.left_ns).unwrap_or(0) / self.ns_a_page
    }

    /// Takes the time for some pages, those that stayed where they are included.
    pub(super) fn spend(&mut self, pages: u64) {
        let spent_ns = i64::try_from(pages.saturating_mul(self.ns_a_page)).unwrap_or(i64::MAX);
        self.left_ns = self.left_ns.saturating_sub(spent_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_twentieth_of_the_time_is_for_moving() {
        let mut budget = Budget::new(4_000, 1_000);
        assert_eq!(budget.pages(1_000), 0);
        assert_eq!(budget.pages(100_001_000), 1250, "5 ms of 100");
        budget.spend(1250);
        assert_eq!(budget.pages(100_001_000), 0);
        budget.spend(2500);
        assert_eq!(budget.pages(200_001_000), 0, "what was overdrawn is earned first");
        assert_eq!(budget.pages(400_001_000), 1250);
        assert_eq!(budget.pages(900_000_000_000), 12_500, "no more than a second is kept");
    }

    #[test]
    fn short_times_add_up() {
        let mut budget = Budget::new(1, 0);
        let pages = (1..=1_000).map(|ns| budget.pages(ns)).max();
        assert_eq!(pages, Some(50));
    }
}
