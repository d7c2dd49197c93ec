//! Pipes, terminals and devices, which cannot be replaced and are written directly.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use anyhow::anyhow;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;

use super::refusals::cannot_create;
use super::target::Target;
use crate::exit::{Cause, Failure};

/// Opens a stream for writing. If it `is_open` already, as standard output, that is written where it stands.
///
/// # Errors
/// If it is a pipe without a reader; the call does not wait for one.
pub(super) fn open(target: &Target, is_open: bool) -> Result<File, Failure> {
    let path = if is_open { &target.named } else { &target.place };
    let own = if is_open { own(path) } else { None };
    own.map_or_else(|| open_anew(path, is_open), |file| Ok(File::from(file)))
}

/// Returns standard output or standard error if `path` is one of them.
fn own(path: &Path) -> Option<OwnedFd> {
    let there = path.metadata().ok()?;
    let same = |fd: OwnedFd| {
        let file = File::from(fd);
        let own = file.metadata().ok()?;
        ((own.dev(), own.ino()) == (there.dev(), there.ino())).then(|| OwnedFd::from(file))
    };
    let out = io::stdout().as_fd().try_clone_to_owned().ok().and_then(same);
    out.or_else(|| io::stderr().as_fd().try_clone_to_owned().ok().and_then(same))
}

fn open_anew(path: &Path, is_open: bool) -> Result<File, Failure> {
    let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    if !is_open {
        flags |= OFlags::NOFOLLOW;
    }
    let flags = flags.bits() as i32;
    let file = match OpenOptions::new().write(true).custom_flags(flags).open(path) {
        Err(error) if Errno::from_io_error(&error) == Some(Errno::NXIO) => {
            let what = anyhow!("no process reads from {}; start its reader first", path.display());
            return Err(Failure::new(Cause::Output, what));
        }
        other => other.map_err(|error| cannot_create(path, error))?,
    };
    // It does not wait for a reader; from now on it waits for one that is slow.
    fcntl_getfl(&file)
        .and_then(|flags| fcntl_setfl(&file, flags - OFlags::NONBLOCK))
        .map_err(|error| cannot_create(path, error.into()))?;
    Ok(file)
}

/// Returns an error of writing to a stream. A reader that has gone is an error, unlike that of standard output.
pub(super) fn error(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return io::Error::other("its reader has ended");
    }
    error
}
