//! A small file system, for tests with a full file system.

use std::ffi::CString;
use std::path::Path;

use rustix::mount::{MountFlags, UnmountFlags, mount, mount_remount, unmount};

use crate::machine::is_root;
use crate::skip::skip;

/// A tmpfs of a given size. Dropping it unmounts it.
#[derive(Debug)]
pub struct SmallTmpfs(tempfile::TempDir);

impl SmallTmpfs {
    /// Mounts a tmpfs of `kib` KiB. Returns `None` if it cannot be mounted.
    pub fn mount(kib: u32, test: &str) -> Option<Self> {
        if !is_root(test) {
            return None;
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        match mount("tmpfs", folder.path(), "tmpfs", MountFlags::empty(), Some(size(kib).as_c_str())) {
            Ok(()) => Some(Self(folder)),
            Err(error) => {
                skip(test, format!("no file system can be mounted: {error}"));
                None
            }
        }
    }

    /// Returns the mount point.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Changes the size to `kib` KiB.
    ///
    /// # Panics
    /// If the kernel refuses.
    pub fn grow_to(&self, kib: u32) {
        mount_remount(self.path(), MountFlags::empty(), size(kib).as_c_str()).expect("a larger file system");
    }
}

fn size(kib: u32) -> CString {
    CString::new(format!("size={kib}k")).expect("a text without zeros")
}

impl Drop for SmallTmpfs {
    fn drop(&mut self) {
        // A tmpfs that stays mounted does no harm, because it is in a temporary folder.
        let _ = unmount(self.path(), UnmountFlags::DETACH);
    }
}
