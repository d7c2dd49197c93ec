//! A file that replaces another only when it is complete.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::refusals::{cannot_create, cannot_write, exists};
use crate::exit::{Cause, Failure};

/// A file that takes its place only when it is complete; until then an older file stays there.
///
/// A device or a pipe cannot be replaced and is written directly.
pub(crate) struct Scratch {
    file: File,
    /// The path that the user gave.
    named: PathBuf,
    partial: PathBuf,
    place: PathBuf,
    /// True if there is nothing (or nothing more) to remove or rename.
    is_done: bool,
}

impl Scratch {
    /// Starts a file that will become `place`. Fails if `place` exists, unless `force`.
    pub(crate) fn create(place: &Path, force: bool) -> Result<Self, Failure> {
        // A symbolic link stays, and its target is replaced.
        let target = fs::canonicalize(place).unwrap_or_else(|_| place.to_owned());
        let there = fs::metadata(&target).ok();
        if there.is_some() && !force {
            return Err(exists(place));
        }
        let in_place = there.is_some_and(|it| !it.is_file());
        let mut name = target.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.partial", std::process::id()));
        let partial = if in_place { target.clone() } else { target.with_file_name(name) };
        let file = OpenOptions::new().write(true).create(!in_place).truncate(!in_place).open(&partial);
        let file = file.map_err(|error| cannot_create(place, error))?;
        Ok(Self { file, named: place.to_owned(), partial, place: target, is_done: in_place })
    }

    /// Writes a text.
    pub(crate) fn write_text(&mut self, text: &str) -> Result<(), Failure> {
        self.file.write_all(text.as_bytes()).map_err(|error| cannot_write(&self.named, error))
    }

    /// Waits until everything written is on the device.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        if self.file.metadata()?.is_file() { self.file.sync_all() } else { self.file.flush() }
    }

    /// Puts the file into its place.
    pub(crate) fn keep(mut self) -> Result<(), Failure> {
        if !self.is_done {
            fs::rename(&self.partial, &self.place)
                .with_context(|| format!("{} cannot be put in place", self.place.display()))
                .map_err(|error| Failure::new(Cause::Output, error))?;
            self.is_done = true;
        }
        Ok(())
    }

    /// Removes the name and returns the file, which disappears when it is closed.
    pub(crate) fn unnamed(self) -> io::Result<File> {
        self.file.try_clone()
    }
}

impl Write for Scratch {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.is_done {
            // The caller has reported an earlier error, which matters more.
            let _ = fs::remove_file(&self.partial);
        }
    }
}
