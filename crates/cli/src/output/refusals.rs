//! Why a file is not written.

use std::io;
use std::path::Path;

use anyhow::anyhow;

use crate::exit::{Cause, Failure};

/// The refusal to replace a file.
pub(crate) fn exists(path: &Path) -> Failure {
    let what = anyhow!("{} exists; replace it with --force or name another file", path.display());
    Failure::new(Cause::Input, what)
}

/// A file that cannot be created.
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

/// A file that cannot be written to its end.
pub(super) fn cannot_write(path: &Path, error: io::Error) -> Failure {
    let remedy = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "make room on the device",
        _ => "name another place",
    };
    let what = anyhow::Error::new(error).context(format!("{} cannot be written; {remedy}", path.display()));
    Failure::new(Cause::Output, what)
}
