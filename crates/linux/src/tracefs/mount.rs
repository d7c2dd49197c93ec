//! Finds tracefs, or mounts it for this process only.

use std::fs;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

use crate::error::Error;

/// A mounted tracefs.
#[derive(Debug)]
pub(crate) struct Tracefs {
    root: PathBuf,
    /// Keeps a mount alive that is in no mount namespace.
    _mount: Option<OwnedFd>,
}

impl Tracefs {
    /// Opens the machine's tracefs, or mounts one for this process only.
    ///
    /// The latter mount is in no mount namespace: neither the machine nor the recorded command sees
    /// it.
    pub(crate) fn open() -> Result<Self, Error> {
        match mounted() {
            Some(root) => Ok(Self { root, _mount: None }),
            None => Self::mount_privately(),
        }
    }

    /// Mounts tracefs for this process only.
    fn mount_privately() -> Result<Self, Error> {
        let explain = |errno: Errno| match errno {
            Errno::PERM | Errno::ACCESS => Error::NotRoot { path: PathBuf::from("/sys/kernel/tracing") },
            other => Error::NoTracefs { detail: other.to_string() },
        };
        let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC).map_err(explain)?;
        fsconfig_create(&context).map_err(explain)?;
        let flags = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC;
        let mount = fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, flags).map_err(explain)?;
        let root = PathBuf::from(format!("/proc/self/fd/{}", mount.as_raw_fd()));
        Ok(Self { root, _mount: Some(mount) })
    }

    /// Returns the folder with `events` and `instances`.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }
}

/// Returns where tracefs is mounted in this mount namespace.
fn mounted() -> Option<PathBuf> {
    mount_point(&fs::read_to_string("/proc/self/mountinfo").ok()?)
}

/// Returns the mount point of tracefs in a mountinfo, preferably `/sys/kernel/tracing`.
fn mount_point(mountinfo: &str) -> Option<PathBuf> {
    let mut points: Vec<&str> = mountinfo
        .lines()
        .filter_map(|row| {
            let (before, after) = row.split_once(" - ")?;
            (after.split(' ').next()? == "tracefs").then(|| before.split(' ').nth(4))?
        })
        .filter(|point| !point.contains('\\'))
        .collect();
    points.sort_by_key(|point| *point != "/sys/kernel/tracing");
    points.first().map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_place_is_preferred() {
        let info = "22 1 0:5 / /proc rw - proc proc rw\n\
                    30 25 0:11 / /sys/kernel/debug/tracing rw,nosuid shared:9 - tracefs tracefs rw\n\
                    31 25 0:11 / /sys/kernel/tracing rw shared:9 - tracefs tracefs rw\n";
        assert_eq!(mount_point(info), Some(PathBuf::from("/sys/kernel/tracing")));
        assert_eq!(mount_point("22 1 0:5 / /proc rw - proc proc rw\n"), None);
        assert_eq!(mount_point("tracefs\n - tracefs\n"), None);
    }
}
