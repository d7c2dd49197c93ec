//! The reasons for not writing a file.

use std::io;
use std::path::Path;

use anyhow::anyhow;

use crate::exit::{Cause, Failure};

/// Returns the refusal to replace an existing file.
pub(crate) fn exists(path: &Path) -> Failure {
    let what = anyhow!("{} exists; replace it with --force or name another file", path.display());
    Failure::new(Cause::Input, what)
}

/// Returns the failure to create a file.
pub(crate) fn cannot_create(path: &Path, error: io::Error) -> Failure {
    let remedy = match error.kind() {
        io::ErrorKind::NotFound => "make its folder first",
        io::ErrorKind::StorageFull => "make room on the device",
        io::ErrorKind::IsADirectory => "it is a folder; name a file in it",
        _ => "name a file in a folder that you may write to",
    };
    let what = anyhow::Error::new(error).context(format!("{} cannot be created; {remedy}", path.display()));
    Failure::new(Cause::Output, what)
}

/// Returns the failure to finish writing a file.
pub(super) fn cannot_write(path: &Path, error: io::Error) -> Failure {
    let remedy = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "make room on the device",
        _ => "name another place",
    };
    let what = anyhow::Error::new(error).context(format!("{} cannot be written; {remedy}", path.display()));
    Failure::new(Cause::Output, what)
}
