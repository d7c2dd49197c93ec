//! What the kernel counts by code: once before the watch and once after it.

use std::path::Path;

use freehold_linux::Error;
use freehold_linux::procfs::{AllocationSite, counts_allocations, page_bytes, read_allocinfo};
use freehold_monitor::blame::CodeInUse;

use crate::exit::Failure;

/// What was in use before the watch.
pub(super) struct Counted(Vec<AllocationSite>);

impl Counted {
    /// Reads `/proc/allocinfo` below `root`, if there is one; if it no longer counts, `notes` says so.
    pub(super) fn before(root: &Path, notes: &mut Vec<String>) -> Result<Option<Self>, Failure> {
        let Some(sites) = read(root, notes)? else { return Ok(None) };
        if counts_allocations(root) {
            return Ok(Some(Self(sites)));
        }
        notes.push("/proc/allocinfo is old, as vm.mem_profiling is 0, so it is not told".to_owned());
        Ok(None)
    }

    /// Reads it again. `has_waited` is true if time has passed, so that growth means something.
    pub(super) fn after(
        &self,
        root: &Path,
        has_waited: bool,
        notes: &mut Vec<String>,
    ) -> Result<Option<CodeInUse>, Failure> {
        let Some(sites) = read(root, notes)? else { return Ok(None) };
        let before = has_waited.then_some(self.0.as_slice());
        Ok(Some(CodeInUse::of(sites, before, page_bytes(root).unwrap_or(4096))))
    }
}

fn read(root: &Path, notes: &mut Vec<String>) -> Result<Option<Vec<AllocationSite>>, Failure> {
    match read_allocinfo(root) {
        Ok(found) => Ok(found),
        Err(error @ Error::Malformed { .. }) => Err(error.into()),
        Err(error) => {
            notes.push(error.to_string());
            Ok(None)
        }
    }
}
