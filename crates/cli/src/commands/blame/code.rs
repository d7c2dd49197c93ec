//! What the kernel counts by code: once before the watch and once after it.

use std::path::Path;

use freehold_linux::procfs::{AllocationSite, counts_allocations, page_bytes, read_allocinfo};
use freehold_monitor::blame::CodeInUse;

/// What was in use before the watch.
pub(super) struct Counted(Vec<AllocationSite>);

impl Counted {
    /// Reads `/proc/allocinfo` below `root`, if there is one and the kernel counts. What is wrong with it `notes` say.
    pub(super) fn before(root: &Path, notes: &mut Vec<String>) -> Option<Self> {
        read(root, notes).map(Self)
    }

    /// Reads it again. `has_waited` is true if time has passed, so that growth means something.
    pub(super) fn after(&self, root: &Path, has_waited: bool, notes: &mut Vec<String>) -> Option<CodeInUse> {
        let sites = read(root, notes)?;
        let before = has_waited.then_some(self.0.as_slice());
        Some(CodeInUse::of(sites, before, page_bytes(root).unwrap_or(4096)))
    }
}

fn read(root: &Path, notes: &mut Vec<String>) -> Option<Vec<AllocationSite>> {
    if !counts_allocations(root) {
        notes.push(
            "memory in use by code is not told: the kernel does not count it now (vm.mem_profiling is 0)"
                .to_owned(),
        );
        return None;
    }
    read_allocinfo(root).unwrap_or_else(|error| {
        notes.push(format!("memory in use by code is not told: {error}"));
        None
    })
}
