//! The rates of the machine's counters.

use std::collections::BTreeMap;

use serde::Serialize;

/// A rate that is shown, of a counter of `/proc/vmstat` or of a sum of several.
#[derive(Clone, Copy, Debug)]
pub struct Rated {
    /// The name in outputs.
    pub name: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// The counters that are summed: whole names, or prefixes that end in `_`.
    pub counters: &'static [&'static str],
}

/// Every rate, in the order of the outputs.
pub const RATED: [Rated; 16] = [
    rated("pgalloc", "pages allocated", &["pgalloc_"]),
    rated("pgfree", "pages freed", &["pgfree"]),
    rated("allocstall", "direct reclaims", &["allocstall_"]),
    rated(
        "pgscan",
        "pages scanned by reclaim",
        &["pgscan_kswapd", "pgscan_direct", "pgscan_khugepaged", "pgscan_proactive"],
    ),
    rated(
        "pgsteal",
        "pages reclaimed",
        &["pgsteal_kswapd", "pgsteal_direct", "pgsteal_khugepaged", "pgsteal_proactive"],
    ),
    rated("compact_stall", "direct compactions", &["compact_stall"]),
    rated("compact_success", "direct compactions that gave the block", &["compact_success"]),
    rated("compact_fail", "direct compactions that did not", &["compact_fail"]),
    rated("compact_migrate_scanned", "pages scanned for migration", &["compact_migrate_scanned"]),
    rated("compact_free_scanned", "pages scanned as targets", &["compact_free_scanned"]),
    rated("kcompactd_wake", "wake-ups of kcompactd", &["compact_daemon_wake"]),
    rated("pgmigrate_success", "pages migrated", &["pgmigrate_success"]),
    rated("pgmigrate_fail", "pages that could not be migrated", &["pgmigrate_fail"]),
    rated("thp_fault_alloc", "huge pages given to faults", &["thp_fault_alloc"]),
    rated("thp_fault_fallback", "faults that got small pages instead", &["thp_fault_fallback"]),
    rated("thp_split_page", "huge pages split", &["thp_split_page"]),
];

const fn rated(name: &'static str, meaning: &'static str, counters: &'static [&'static str]) -> Rated {
    Rated { name, meaning, counters }
}

impl Rated {
    /// Returns the sum of the counters, or `None` if the kernel has none of them.
    pub fn value(&self, counters: &BTreeMap<String, u64>) -> Option<u64> {
        let parts = counters.iter().filter(|(name, _)| self.counts(name));
        parts.fold(None, |sum, (_, value)| Some(sum.unwrap_or(0_u64).wrapping_add(*value)))
    }

    fn counts(&self, name: &str) -> bool {
        self.counters.iter().any(|&part| name == part || (part.ends_with('_') && name.starts_with(part)))
    }
}

/// A counter and its rate.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Rate {
    /// Name of a [`Rated`].
    pub name: &'static str,
    /// The counter's value since boot.
    pub total: u64,
    /// The change per second; `None` at the first sample.
    pub per_second: Option<f64>,
}

/// Returns the rates between two readings that are `seconds` apart.
pub fn rates(before: Option<&BTreeMap<String, u64>>, now: &BTreeMap<String, u64>, seconds: f64) -> Vec<Rate> {
    let rate = |rated: &Rated| {
        let total = rated.value(now)?;
        let before = before.and_then(|before| rated.value(before));
        let change = before.and_then(|before| total.checked_sub(before));
        let per_second = change.filter(|_| seconds > 0.0).map(|change| change as f64 / seconds);
        Some(Rate { name: rated.name, total, per_second })
    };
    RATED.iter().filter_map(rate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(pairs: &[(&str, u64)]) -> BTreeMap<String, u64> {
        pairs.iter().map(|&(name, value)| (name.to_owned(), value)).collect()
    }

    #[test]
    fn parts_are_summed_by_name() {
        let before = counters(&[("pgalloc_dma", 1), ("pgalloc_normal", 9), ("compact_fail", 5)]);
        let now = counters(&[("pgalloc_dma", 2), ("pgalloc_normal", 28), ("compact_fail", 5)]);
        let rates = rates(Some(&before), &now, 2.0);
        let named = |name| rates.iter().find(|rate| rate.name == name);
        assert_eq!(named("pgalloc").unwrap().per_second, Some(10.0));
        assert_eq!(named("compact_fail").unwrap().per_second, Some(0.0));
        assert!(named("compact_stall").is_none(), "a kernel without the counter has no rate");
    }

    #[test]
    fn reclaim_is_summed_over_everybody_who_does_it() {
        let rated = RATED.iter().find(|rated| rated.name == "pgscan").unwrap();
        let counters = counters(&[
            ("pgscan_kswapd", 1),
            ("pgscan_direct", 10),
            ("pgscan_khugepaged", 100),
            ("pgscan_proactive", 1000),
            // Parts of pgscan's pages, and throttled tasks, which are no pages.
            ("pgscan_anon", 1),
            ("pgscan_file", 1110),
            ("pgscan_direct_throttle", 5),
        ]);
        assert_eq!(rated.value(&counters), Some(1111));
    }

    #[test]
    fn a_counter_that_went_back_has_no_rate() {
        let rates = rates(Some(&counters(&[("pgfree", 9)])), &counters(&[("pgfree", 3)]), 1.0);
        assert_eq!((rates[0].total, rates[0].per_second), (3, None));
    }
}
