//! What is printed, and what is said on standard error.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Context;

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

/// Tells the user of a failure, unless the pipe is closed: then who read from it has read enough. Returns the exit
/// code.
pub(crate) fn report(failure: &Failure) -> ExitCode {
    if failure.is_broken_pipe() {
        return ExitCode::SUCCESS;
    }
    note(&format!("freehold: {failure}"));
    ExitCode::from(failure.cause as u8)
}
