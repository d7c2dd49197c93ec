//! A folder that takes its place only when it is complete.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};

use super::refusals::{cannot_create, cannot_write};
use crate::exit::{Cause, Failure};

/// A folder that takes its place only when all its files are written; before that, dropping it removes
/// it.
pub(crate) struct ScratchFolder {
    partial: PathBuf,
    place: PathBuf,
    is_done: bool,
}

impl ScratchFolder {
    /// Starts a folder that will become `place`. Fails if `place` exists and is not an empty folder.
    pub(crate) fn create(place: &Path) -> Result<Self, Failure> {
        let refuse = |what: &str| {
            let error = anyhow!("{} {what}; name a folder that is not there yet", place.display());
            Err(Failure::new(Cause::Input, error))
        };
        match fs::read_dir(place).map(|mut entries| entries.next().is_some()) {
            Ok(true) => return refuse("exists and is not empty"),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                return refuse("exists and is no folder");
            }
            _ => {}
        }
        // A symbolic link stays, and its target is replaced.
        let place = fs::canonicalize(place).unwrap_or_else(|_| place.to_owned());
        let mut name = place.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.partial", std::process::id()));
        let partial = place.with_file_name(name);
        fs::create_dir(&partial).map_err(|error| cannot_create(&place, error))?;
        Ok(Self { partial, place, is_done: false })
    }

    /// Writes a file in the folder.
    pub(crate) fn write(&self, name: &str, contents: &[u8]) -> Result<(), Failure> {
        let path = self.partial.join(name);
        let written = fs::File::create(&path).and_then(|mut file| file.write_all(contents));
        written.map_err(|error| cannot_write(&self.place.join(name), error))
    }

    /// Puts the folder into its place.
    pub(crate) fn keep(mut self) -> Result<(), Failure> {
        fs::rename(&self.partial, &self.place)
            .with_context(|| format!("{} cannot be put in place", self.place.display()))
            .map_err(|error| Failure::new(Cause::Output, error))?;
        self.is_done = true;
        Ok(())
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        if !self.is_done {
            // The caller has reported an earlier error, which matters more.
            let _ = fs::remove_dir_all(&self.partial);
        }
    }
}
