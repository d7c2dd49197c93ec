//! Whether a file is still the one that was read.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What changes when a file is written or replaced; `None` if it cannot be looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Stamp(Option<(u64, u64, u64, i64, i64)>);

impl Stamp {
    pub(super) fn of(path: &Path) -> Self {
        let found = fs::metadata(path).ok();
        Self(found.map(|it| (it.dev(), it.ino(), it.size(), it.mtime(), it.mtime_nsec())))
    }
}
