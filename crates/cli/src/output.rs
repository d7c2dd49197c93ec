//! Where results go, and what is said when they cannot.

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, anyhow};

use crate::exit::{Cause, Failure};

/// Prints a finished text.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| if text.ends_with('\n') { Ok(()) } else { out.write_all(b"\n") })
        .and_then(|()| out.flush())
        .context("standard output cannot be written")
        .map_err(|error| Failure::new(Cause::Output, error))
}

/// Prints a value as JSON.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::new(Cause::Bug, error))?;
    print(&text)
}

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

/// Says something on standard error. Where nobody can listen, the work goes on.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Says on standard error what a machine could not tell.
pub(crate) fn notes(notes: &[String]) {
    for text in notes {
        note(&format!("freehold: {text}"));
    }
}
