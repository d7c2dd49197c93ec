//! The kernel's counters around a step: pages migrated and dropped, and how long others waited.

use std::path::Path;

use freehold_linux::procfs::{read_every_counter, read_pressure};

/// The counters at one moment.
#[derive(Clone, Copy, Default)]
pub(super) struct Counters {
    migrated: u64,
    /// Pages of page cache, without tmpfs.
    file: u64,
    /// Time in which a task waited for memory, in microseconds; `None` where the kernel does not count it.
    waited_us: Option<u64>,
}

impl Counters {
    /// Reads the counters; one that cannot be read stays 0.
    pub(super) fn read(root: &Path) -> Self {
        let vmstat = read_every_counter(root).unwrap_or_default();
        let counter = |name: &str| vmstat.get(name).copied().unwrap_or(0);
        Self {
            migrated: counter("pgmigrate_success"),
            file: counter("nr_file_pages").saturating_sub(counter("nr_shmem")),
            waited_us: read_pressure(root).ok().map(|pressure| pressure.some.total_us),
        }
    }

    /// Returns the pages that were migrated since `before`.
    pub(super) fn migrated_since(&self, before: &Self) -> u64 {
        self.migrated.saturating_sub(before.migrated)
    }

    /// Returns by how many pages page cache has become smaller since `before`.
    pub(super) fn dropped_since(&self, before: &Self) -> u64 {
        before.file.saturating_sub(self.file)
    }

    /// Returns how long a task waited for memory since `before`.
    pub(super) fn waited_since(&self, before: &Self) -> Option<u64> {
        Some(self.waited_us?.saturating_sub(before.waited_us?))
    }
}
