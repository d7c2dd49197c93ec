//! Counters of reclaim and compaction, under the names of `/proc/vmstat`.

use crate::table::sync::{AtomicU64, Ordering};

macro_rules! events {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Counters of reclaim and compaction since the memory was set up.
        ///
        /// Names with scan, isolated, steal or migrate count pages; all others count events. All numbers are exact.
        /// Linux counterpart: the fields of the same names in `/proc/vmstat`; `allocstall` is the sum
        /// over its zones.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize))]
        pub struct VmEvents {
            $($(#[$doc])* pub $name: u64,)*
        }

        /// The counters themselves. Any thread may add to them; they are not on the fast path.
        #[derive(Debug, Default)]
        pub(crate) struct EventCells {
            $(pub(crate) $name: EventCell,)*
        }

        impl EventCells {
            pub(super) fn load(&self) -> VmEvents {
                VmEvents { $($name: self.$name.0.load(Ordering::Relaxed),)* }
            }
        }
    };
}

events! {
    /// Requests that entered direct reclaim.
    allocstall,
    /// Pages scanned by kswapd.
    pgscan_kswapd,
    /// Pages scanned by direct reclaim.
    pgscan_direct,
    /// Pages reclaimed by kswapd.
    pgsteal_kswapd,
    /// Pages reclaimed by direct reclaim.
    pgsteal_direct,
    /// Times that kswapd began to balance a node.
    pageoutrun,
    /// Requests that entered direct compaction.
    compact_stall,
    /// The part of [`VmEvents::compact_stall`] that got no block from it.
    compact_fail,
    /// The part of [`VmEvents::compact_stall`] that got a block.
    compact_success,
    /// Frames that the migrate scanner scanned.
    compact_migrate_scanned,
    /// Frames that the free scanner scanned.
    compact_free_scanned,
    /// Pages that the two scanners isolated.
    compact_isolated,
    /// Times that kcompactd began to work.
    compact_daemon_wake,
    /// The part of [`VmEvents::compact_migrate_scanned`] from runs of kcompactd.
    compact_daemon_migrate_scanned,
    /// The part of [`VmEvents::compact_free_scanned`] from runs of kcompactd.
    compact_daemon_free_scanned,
    /// Pages that the embedder moved.
    pgmigrate_success,
    /// Pages that the embedder failed to move.
    pgmigrate_fail,
}

/// One counter.
#[derive(Debug)]
pub(crate) struct EventCell(AtomicU64);

impl Default for EventCell {
    fn default() -> Self {
        Self(AtomicU64::new(0))
    }
}

impl EventCell {
    pub(crate) fn add(&self, events: u64) {
        self.0.fetch_add(events, Ordering::Relaxed);
    }
}
