//! What the machine's reclaim and compaction did, as the counters of `/proc/vmstat` tell it.

use std::collections::BTreeMap;

use serde::Serialize;

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident $($counter:literal)+,)*) => {
        /// What the machine's reclaim and compaction did during the recording. `None` for counters that the
        /// kernel does not have or that were not kept.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
        pub struct RecordedCounters {
            $($(#[$doc])* pub $name: Option<u64>,)*
        }

        impl RecordedCounters {
            /// The counters that are read.
            pub(crate) const NAMES: &[&str] = &[$($($counter),+),*];

            /// Returns by how much each counter grew between two readings.
            pub fn between(start: &BTreeMap<String, u64>, end: &BTreeMap<String, u64>) -> Self {
                Self { $($name: difference(start, end, &[$($counter),+]),)* }
            }
        }
    };
}

counters! {
    /// Huge pages given to page faults.
    thp_fault_alloc "thp_fault_alloc",
    /// Page faults that wanted a huge page and got small pages.
    thp_fault_fallback "thp_fault_fallback",
    /// Requests that compacted by themselves.
    compact_stall "compact_stall",
    /// Requests that compacted by themselves and got a block.
    compact_success "compact_success",
    /// Requests that compacted by themselves and got no block.
    compact_fail "compact_fail",
    /// Frames that migrate scanners passed.
    compact_migrate_scanned "compact_migrate_scanned",
    /// Frames that free scanners passed.
    compact_free_scanned "compact_free_scanned",
    /// Frames that the migrate scanner of kcompactd passed.
    compact_daemon_migrate_scanned "compact_daemon_migrate_scanned",
    /// Frames that the free scanner of kcompactd passed.
    compact_daemon_free_scanned "compact_daemon_free_scanned",
    /// Times that kcompactd set to work.
    compact_daemon_wake "compact_daemon_wake",
    /// Pages moved, for compaction and otherwise.
    pgmigrate_success "pgmigrate_success",
    /// Pages that could not be moved after all.
    pgmigrate_fail "pgmigrate_fail",
    /// Requests that reclaimed by themselves.
    allocstall "allocstall_dma" "allocstall_dma32" "allocstall_normal" "allocstall_movable" "allocstall_device",
    /// Pages that kswapd looked at.
    pgscan_kswapd "pgscan_kswapd",
    /// Pages that kswapd freed.
    pgsteal_kswapd "pgsteal_kswapd",
    /// Pages that requests looked at by themselves.
    pgscan_direct "pgscan_direct",
    /// Pages that requests freed by themselves.
    pgsteal_direct "pgsteal_direct",
    /// Pages written to swap.
    pswpout "pswpout",
    /// Pages read from swap.
    pswpin "pswpin",
    /// Pages of page cache read again after they had been reclaimed.
    workingset_refault_file "workingset_refault_file",
}

impl RecordedCounters {
    /// Returns the number of frames that the migrate scanners of requests passed.
    pub fn direct_migrate_scanned(&self) -> Option<u64> {
        Some(self.compact_migrate_scanned?.saturating_sub(self.compact_daemon_migrate_scanned?))
    }

    /// Returns the number of frames that the free scanners of requests passed.
    pub fn direct_free_scanned(&self) -> Option<u64> {
        Some(self.compact_free_scanned?.saturating_sub(self.compact_daemon_free_scanned?))
    }
}

/// Returns by how much the counters with these names grew together; `None` if there is none of them.
fn difference(start: &BTreeMap<String, u64>, end: &BTreeMap<String, u64>, names: &[&str]) -> Option<u64> {
    let grown = names.iter().filter_map(|&name| Some(end.get(name)?.saturating_sub(*start.get(name)?)));
    grown.fold(None, |sum, counter| Some(sum.unwrap_or(0_u64).saturating_add(counter)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_that_are_missing_are_unknown_and_parts_are_summed() {
        let reading = |pairs: &[(&str, u64)]| pairs.iter().map(|&(n, v)| (n.to_owned(), v)).collect();
        let start = reading(&[("allocstall_normal", 3), ("allocstall_movable", 10), ("compact_stall", 7)]);
        let end = reading(&[("allocstall_normal", 5), ("allocstall_movable", 11), ("compact_fail", 2)]);
        let events = RecordedCounters::between(&start, &end);
        assert_eq!((events.allocstall, events.compact_stall, events.compact_fail), (Some(3), None, None));
        assert_eq!(events.direct_free_scanned(), None);
    }
}
