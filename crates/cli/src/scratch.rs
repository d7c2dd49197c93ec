//! A file that takes its place only when it is whole.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::exit::{Cause, Failure};
use crate::output::{cannot_create, exists};

/// A file that takes its place only when it is whole; until then, and if it never is, what
/// was there before stays.
///
/// A device or a pipe cannot be replaced: it is written to as it is.
pub(crate) struct Scratch {
    partial: PathBuf,
    place: PathBuf,
    /// Nothing is to be removed or renamed (any more).
    is_done: bool,
}

impl Scratch {
    /// Starts a file that is to become `place`; refuses to replace one unless `force`.
    pub(crate) fn create(place: &Path, force: bool) -> Result<(Self, File), Failure> {
        // What a link leads to is replaced, not the link.
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
        Ok((Self { partial, place: target, is_done: in_place }, file))
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
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.is_done {
            // There is nobody left to tell, and the error that led here was told.
            let _ = fs::remove_file(&self.partial);
        }
    }
}
