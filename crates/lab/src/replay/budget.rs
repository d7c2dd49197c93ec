//! The budget for background moves of pages.

/// Background moves may take one part in `CPU_SHARE` of one CPU's time.
pub(crate) const CPU_SHARE: u64 = 20;

/// The interval whose unused budget is kept.
const KEPT_NS: u64 = 1_000_000_000;

/// The time budget of the daemons of all nodes for background moves. It is the same for every era, and each page
/// costs the time that the recorded machine needed.
///
/// Linux counterpart: none; Linux limits proactive compaction by the fragmentation of a node, and by pauses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    ns_a_page: u64,
    /// The remaining time; negative after a call that could not stop in time.
    left_ns: i64,
    /// The time up to which the budget was earned.
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
        // The remainder of the division is earned next time.
        self.earned_to_ns = self.earned_to_ns.saturating_add(earned_ns.saturating_mul(CPU_SHARE));
        let earned_ns = i64::try_from(earned_ns).unwrap_or(i64::MAX);
        self.left_ns = self.left_ns.saturating_add(earned_ns).min(most);
        u64::try_from(self.left_ns).unwrap_or(0) / self.ns_a_page
    }

    /// Takes the time of some attempted moves, failed ones included.
    pub(super) fn spend(&mut self, pages: u64) {
        let spent_ns = i64::try_from(pages.saturating_mul(self.ns_a_page)).unwrap_or(i64::MAX);
        self.left_ns = self.left_ns.saturating_sub(spent_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_is_a_twentieth_of_the_time() {
        let mut budget = Budget::new(4_000, 1_000);
        assert_eq!(budget.pages(1_000), 0);
        assert_eq!(budget.pages(100_001_000), 1250, "5 ms of 100");
        budget.spend(1250);
        assert_eq!(budget.pages(100_001_000), 0);
        budget.spend(2500);
        assert_eq!(budget.pages(200_001_000), 0, "a deficit is earned first");
        assert_eq!(budget.pages(400_001_000), 1250);
        assert_eq!(budget.pages(900_000_000_000), 12_500, "at most one second is kept");
    }

    #[test]
    fn short_times_add_up() {
        let mut budget = Budget::new(1, 0);
        let pages = (1..=1_000).map(|ns| budget.pages(ns)).max();
        assert_eq!(pages, Some(50));
    }
}
