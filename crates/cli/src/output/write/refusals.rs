//! The reasons for not writing a file.

use std::io;
use std::path::Path;

use anyhow::anyhow;

use crate::exit::{Cause, Failure};

/// Returns the refusal to replace an existing file.
pub(super) fn exists(path: &Path) -> Failure {
    let what = anyhow!("{} exists; replace it with --force or name another file", path.display());
    Failure::new(Cause::Usage, what)
}

/// Returns the refusal to write what somebody else writes.
pub(super) fn busy(path: &Path) -> Failure {
    let what = anyhow!("another freehold writes {}; wait for it, or name another file", path.display());
    Failure::new(Cause::Usage, what)
}

/// Returns the refusal to take away what no freehold has left.
pub(super) fn in_the_way(path: &Path, partial: &Path) -> Failure {
    let (path, partial) = (path.display(), partial.display());
    let what = anyhow!(
        "{path} cannot be written: {partial} is in the way, and is no file of this user's freehold; remove it, or name another file"
    );
    Failure::new(Cause::Output, what)
}

/// Returns the failure to create a file.
pub(crate) fn cannot_create(path: &Path, error: io::Error) -> Failure {
    let remedy = match error.kind() {
        io::ErrorKind::NotFound => "make its folder first",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "make room on the device",
        io::ErrorKind::IsADirectory => "it is a folder; name a file in it",
        io::ErrorKind::InvalidFilename => "name it shorter",
        _ => "name a file in a folder that you may write to",
    };
    failure(path, &format!("cannot be created; {remedy}"), error)
}

/// Returns the failure to finish writing a file.
pub(super) fn cannot_write(path: &Path, error: io::Error) -> Failure {
    let remedy = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "make room on the device",
        io::ErrorKind::FileTooLarge => "files may not be that large here (`ulimit -f`)",
        _ => "name another place",
    };
    failure(path, &format!("cannot be written; {remedy}"), error)
}

/// Returns the failure to give a complete file its name.
pub(super) fn cannot_place(path: &Path, error: io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::AlreadyExists => exists(path),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => cannot_write(path, error),
        _ => failure(path, "cannot be put in place; name another place", error),
    }
}

fn failure(path: &Path, what: &str, error: io::Error) -> Failure {
    let what = anyhow::Error::new(error).context(format!("{} {what}", path.display()));
    Failure::new(Cause::Output, what)
}
