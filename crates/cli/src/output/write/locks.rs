//! Locks of files, by which writers know of each other.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Returns true if a freehold writes the file at `place`.
pub(super) fn is_being_written(place: &Path) -> bool {
    // Readers may share a lock.
    open_to_lock(place).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Opens a file that is there, without changing it and without following a link.
pub(super) fn open_to_lock(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    let open = |write: bool| OpenOptions::new().read(!write).write(write).custom_flags(flags).open(path);
    // Over NFS only a file that is open for writing can be locked.
    open(true).or_else(|_| open(false))
}

/// Locks a file until it is closed. Returns true if another process has locked it; false also where the file system
/// has no locks.
pub(super) fn is_locked_by_another(file: &File) -> bool {
    matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}
