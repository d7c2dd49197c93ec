//! Where results go: standard output, and files that are not replaced by accident.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

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

fn exists(path: &Path) -> Failure {
    let what = anyhow!("{} exists; replace it with --force or name another file", path.display());
    Failure::new(Cause::Input, what)
}

/// Creates a file; refuses to replace one unless `force`.
pub(crate) fn create(path: &Path, force: bool) -> Result<File, Failure> {
    let mut options = OpenOptions::new();
    options.write(true);
    if force {
        options.create(true).truncate(true);
    } else {
        options.create_new(true);
    }
    options.open(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => exists(path),
        _ => Failure::new(
            Cause::Output,
            anyhow::Error::new(error).context(format!("{} cannot be created", path.display())),
        ),
    })
}

/// Says something on standard error that is no error.
pub(crate) fn note(text: &str) {
    eprintln!("{text}");
}

/// A file that takes its place only when it is whole; until then, and if it never is, what
/// was there before stays.
pub(crate) struct Scratch {
    partial: PathBuf,
    place: PathBuf,
    kept: bool,
}

impl Scratch {
    /// Starts a file that is to become `place`; refuses to replace one unless `force`.
    pub(crate) fn create(place: &Path, force: bool) -> Result<Self, Failure> {
        if !force && place.exists() {
            return Err(exists(place));
        }
        let mut name = place.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.partial", std::process::id()));
        Ok(Self { partial: place.with_file_name(name), place: place.to_owned(), kept: false })
    }

    /// Opens the file.
    pub(crate) fn file(&self) -> Result<File, Failure> {
        create(&self.partial, true)
    }

    /// Puts the file into its place.
    pub(crate) fn keep(mut self) -> Result<(), Failure> {
        std::fs::rename(&self.partial, &self.place)
            .with_context(|| format!("{} cannot be put in place", self.place.display()))
            .map_err(|error| Failure::new(Cause::Output, error))?;
        self.kept = true;
        Ok(())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.kept {
            // There is nobody left to tell, and the error that led here was told.
            let _ = std::fs::remove_file(&self.partial);
        }
    }
}
