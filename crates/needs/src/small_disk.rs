//! A file system that is soon full.

use std::ffi::CString;
use std::path::Path;

use rustix::mount::{MountFlags, UnmountFlags, mount, mount_remount, unmount};

use crate::machine::is_root;
use crate::said::skip;

/// A file system in memory of some size; unmounted when dropped.
#[derive(Debug)]
pub struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// Mounts one of `kib` KiB. Where that cannot be, says that `test` is skipped.
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

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Makes it larger.
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

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Whatever stays mounted is in a folder that nobody looks into.
        let _ = unmount(self.path(), UnmountFlags::DETACH);
    }
}
