//! The machine's reclaim and compaction, by the counters of `/proc/vmstat`.

use std::collections::BTreeMap;

use serde::Serialize;

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident $($counter:literal)+,)*) => {
        /// The machine's reclaim and compaction during the recording. `None` for counters that the kernel lacks or
        /// that were not recorded.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
        pub struct RecordedCounters {
            $($(#[$doc])* pub $name: Option<u64>,)*
        }

        impl RecordedCounters {
            /// The names of the counters.
            pub(crate) const NAMES: &[&str] = &[$($($counter),+),*];

            /// Returns the growth of each counter between two readings.
            pub fn between(start: &BTreeMap<String, u64>, end: &BTreeMap<String, u64>) -> Self {
                Self { $($name: difference(start, end, &[$($counter),+]),)* }
            }
        }
    };
}

counters! {
    /// Huge pages allocated for page faults.
    thp_fault_alloc "thp_fault_alloc",
    /// Page faults that got small pages instead of a huge page.
    thp_fault_fallback "thp_fault_fallback",
    /// Requests that compacted directly.
    compact_stall "compact_stall",
    /// Requests that compacted directly and got a block.
    compact_success "compact_success",
    /// Requests that compacted directly and got no block.
    compact_fail "compact_fail",
    /// Frames that migrate scanners passed.
    compact_migrate_scanned "compact_migrate_scanned",
    /// Frames that free scanners passed.
    compact_free_scanned "compact_free_scanned",
    /// Frames that the migrate scanner of kcompactd passed.
    compact_daemon_migrate_scanned "compact_daemon_migrate_scanned",
    /// Frames that the free scanner of kcompactd passed.
    compact_daemon_free_scanned "compact_daemon_free_scanned",
    /// Wake-ups of kcompactd.
    compact_daemon_wake "compact_daemon_wake",
    /// Pages moved, for compaction and for other reasons.
    pgmigrate_success "pgmigrate_success",
    /// Pages whose move failed.
    pgmigrate_fail "pgmigrate_fail",
    /// Requests that reclaimed directly.
    allocstall "allocstall_dma" "allocstall_dma32" "allocstall_normal" "allocstall_movable" "allocstall_device",
    /// Pages that kswapd scanned.
    pgscan_kswapd "pgscan_kswapd",
    /// Pages that kswapd reclaimed.
    pgsteal_kswapd "pgsteal_kswapd",
    /// Pages that direct reclaim scanned.
    pgscan_direct "pgscan_direct",
    /// Pages that direct reclaim reclaimed.
    pgsteal_direct "pgsteal_direct",
    /// Pages written to swap.
    pswpout "pswpout",
    /// Pages read from swap.
    pswpin "pswpin",
    /// Page cache pages that were read again after reclaim.
    workingset_refault_file "workingset_refault_file",
}

impl RecordedCounters {
    /// Returns the number of frames that migrate scanners of direct compaction passed.
    pub fn direct_migrate_scanned(&self) -> Option<u64> {
        Some(self.compact_migrate_scanned?.saturating_sub(self.compact_daemon_migrate_scanned?))
    }

    /// Returns the number of frames that free scanners of direct compaction passed.
    pub fn direct_free_scanned(&self) -> Option<u64> {
        Some(self.compact_free_scanned?.saturating_sub(self.compact_daemon_free_scanned?))
    }
}

/// Returns the sum of the growth of the counters with these names; `None` if none exists.
fn difference(start: &BTreeMap<String, u64>, end: &BTreeMap<String, u64>, names: &[&str]) -> Option<u64> {
    let grown = names.iter().filter_map(|&name| Some(end.get(name)?.saturating_sub(*start.get(name)?)));
    grown.fold(None, |sum, counter| Some(sum.unwrap_or(0_u64).saturating_add(counter)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_counters_are_unknown_and_parts_are_summed() {
        let reading = |pairs: &[(&str, u64)]| pairs.iter().map(|&(n, v)| (n.to_owned(), v)).collect();
        let start = reading(&[("allocstall_normal", 3), ("allocstall_movable", 10), ("compact_stall", 7)]);
        let end = reading(&[("allocstall_normal", 5), ("allocstall_movable", 11), ("compact_fail", 2)]);
        let events = RecordedCounters::between(&start, &end);
        assert_eq!((events.allocstall, events.compact_stall, events.compact_fail), (Some(3), None, None));
        assert_eq!(events.direct_free_scanned(), None);
    }
}
