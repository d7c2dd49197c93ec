//! Standard output and standard error, and what is printed there by several commands. Whatever is printed holds nothing that
//! a terminal obeys.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use anyhow::Context;
use freehold_linux::procfs::read_processors;
use freehold_measure::{Environment, Table, foreign};

use crate::exit::{Cause, Failure};

/// A path in messages, and what is printed in its place.
static RENAMED: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());

/// Prints `name` for `path` from now on, where `path` is of no use to a reader.
pub(crate) fn print_path_as(path: &Path, name: String) {
    let mut renamed = RENAMED.lock().unwrap_or_else(PoisonError::into_inner);
    renamed.push((path.display().to_string(), name));
}

fn renamed(text: &str) -> String {
    let renamed = RENAMED.lock().unwrap_or_else(PoisonError::into_inner);
    renamed.iter().fold(text.to_owned(), |text, (path, name)| text.replace(path, name))
}

/// Prints a text to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    put(&foreign::lines(&renamed(text)))
}

/// Prints JSON to standard output.
pub(crate) fn print_json_text(text: &str) -> Result<(), Failure> {
    put(&foreign::json(&renamed(text)))
}

fn put(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| if text.ends_with('\n') { Ok(()) } else { out.write_all(b"\n") })
        .and_then(|()| out.flush())
        .context("standard output cannot be written")
        .map_err(|error| Failure::new(Cause::Output, error))
}

/// Prints a value to standard output as JSON.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    print_json_text(&json(value)?)
}

/// Returns a value as JSON.
pub(crate) fn json(value: &impl serde::Serialize) -> Result<String, Failure> {
    serde_json::to_string_pretty(value).map_err(|error| Failure::new(Cause::Bug, error))
}

/// Prints a message of one line to standard error. A failure to do so is ignored.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{}", foreign::one_line(&renamed(text)));
}

/// Prints to standard error what could not be read of a machine.
pub(crate) fn notes(notes: &[String]) {
    for text in notes {
        note(&format!("freehold: {text}"));
    }
}

/// Prints a failure to standard error and returns its exit code. Prints nothing if the failure is a
/// closed pipe.
pub(crate) fn report(failure: &Failure) -> ExitCode {
    if failure.is_broken_pipe() {
        return ExitCode::SUCCESS;
    }
    note(&format!("freehold: {failure}"));
    ExitCode::from(failure.cause as u8)
}

/// Formats every table below a line with its title.
pub(crate) fn csv(tables: &[Table]) -> String {
    let blocks: Vec<_> =
        tables.iter().map(|table| format!("# {}\r\n{}", table.title, table.to_csv())).collect();
    blocks.join("\r\n")
}

/// Returns this machine and this build.
pub(crate) fn environment() -> Environment {
    Environment::here(read_processors(Path::new("/")).unwrap_or_default().model)
}
