//! What reclaim and compaction did, under the names of `/proc/vmstat`.

use crate::table::sync::{AtomicU64, Ordering};

macro_rules! events {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// What reclaim and compaction did since the memory was set up.
        ///
        /// Names with scanned, isolated, stolen or migrated count pages, all others events. All numbers
        /// are exact.
        /// Linux counterpart: the fields of the same names in `/proc/vmstat`; `allocstall` is the sum
        /// over its zones.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize))]
        pub struct VmEvents {
            $($(#[$doc])* pub $name: u64,)*
        }

        /// The events as they are counted: off the hot path, by anybody.
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
    /// Requests that reclaimed by themselves.
    allocstall,
    /// Pages that kswapd looked at.
    pgscan_kswapd,
    /// Pages that requests looked at by themselves.
    pgscan_direct,
    /// Pages that kswapd freed.
    pgsteal_kswapd,
    /// Pages that requests freed by themselves.
    pgsteal_direct,
    /// Times that kswapd began to balance a node.
    pageoutrun,
    /// Requests that compacted by themselves.
    compact_stall,
    /// The part of [`VmEvents::compact_stall`] that got no block by it.
    compact_fail,
    /// The part of [`VmEvents::compact_stall`] that got a block.
    compact_success,
    /// Frames that the migrate scanner passed.
    compact_migrate_scanned,
    /// Frames that the free scanner passed.
    compact_free_scanned,
    /// Pages that the two scanners took.
    compact_isolated,
    /// Times that kcompactd began to work.
    compact_daemon_wake,
    /// The part of [`VmEvents::compact_migrate_scanned`] that is kcompactd's.
    compact_daemon_migrate_scanned,
    /// The part of [`VmEvents::compact_free_scanned`] that is kcompactd's.
    compact_daemon_free_scanned,
    /// Pages that the embedder moved.
    pgmigrate_success,
    /// Pages that the embedder could not move after all.
    pgmigrate_fail,
}

/// One event's number.
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
