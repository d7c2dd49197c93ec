//! A folder that takes its place only when it is complete.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::anyhow;

use super::claim::removed;
use super::litter;
use super::locks::is_locked_by_another;
use super::names::partial_of;
use super::names::sync_folder_of;
use super::refusals::{busy, cannot_create, cannot_place, cannot_write, in_the_way};
use crate::exit::{Cause, Failure};
use crate::output::console::note;

/// The most attempts, when others claim and leave the same folder meanwhile.
const ATTEMPTS: usize = 1000;

/// A folder that takes its place only when all its files are written; before that, dropping it removes it.
pub(crate) struct FinishedFolder {
    /// The path that the user gave.
    named: PathBuf,
    partial: PathBuf,
    place: PathBuf,
    /// Locked while it is open.
    folder: File,
    is_done: bool,
}

impl FinishedFolder {
    /// Starts a folder that will become `path`. Fails if that exists and is not an empty folder, and if somebody else
    /// writes it.
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        let refuse = |what: &str| {
            let error = anyhow!("{} {what}; name a folder that is not there yet", path.display());
            Err(Failure::new(Cause::Usage, error))
        };
        let place = match fs::read_dir(path).map(|mut entries| entries.next().is_some()) {
            Ok(true) => return refuse("exists and is not empty"),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                return refuse("exists and is not a folder");
            }
            // A symbolic link stays, and the empty folder behind it is replaced.
            Ok(false) => fs::canonicalize(path).map_err(|error| cannot_create(path, error))?,
            Err(_) if fs::symlink_metadata(path).is_ok() => {
                return refuse("exists and cannot be read");
            }
            Err(_) if path.file_name().is_none() => return refuse("is not a name"),
            Err(_) => path.to_owned(),
        };
        litter::survive_file_limit();
        let partial = partial_of(&place);
        let folder = create_locked(path, &partial)?;
        let made = Self { named: path.to_owned(), partial, place, folder, is_done: false };
        if let Ok(old) = fs::metadata(&made.place) {
            made.folder.set_permissions(old.permissions()).map_err(|error| cannot_create(path, error))?;
        }
        Ok(made)
    }

    /// Writes a file in the folder.
    pub(crate) fn write(&self, name: &str, contents: &[u8]) -> Result<(), Failure> {
        let file = OpenOptions::new().write(true).create_new(true).open(self.partial.join(name));
        let written = file.and_then(|mut file| {
            file.write_all(contents)?;
            file.sync_all()
        });
        written.map_err(|error| cannot_write(&self.named.join(name), error))
    }

    /// Puts the folder into its place, once it is on the device.
    pub(crate) fn keep(mut self) -> Result<(), Failure> {
        self.folder.sync_all().map_err(|error| cannot_write(&self.named, error))?;
        // An empty folder is replaced; anything else makes it fail.
        litter::settle(&self.partial, || fs::rename(&self.partial, &self.place))
            .map_err(|error| cannot_place(&self.named, error))?;
        self.is_done = true;
        sync_folder_of(&self.place).map_err(|error| cannot_write(&self.named, error))
    }
}

/// Creates and locks a folder. Takes away what a killed writer left there.
fn create_locked(named: &Path, partial: &Path) -> Result<File, Failure> {
    let create = || {
        fs::create_dir(partial)?;
        // Another writer may look at it, and take it away, before it is locked.
        Ok(File::open(partial).ok().filter(|it| !is_locked_by_another(it) && is_at(it, partial)))
    };
    for _ in 0..ATTEMPTS {
        match litter::begin(partial, create) {
            Ok(Some(folder)) => return Ok(folder),
            Ok(None) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => take_away(named, partial)?,
            Err(error) => return Err(cannot_create(named, error)),
        }
    }
    Err(busy(named))
}

fn take_away(named: &Path, partial: &Path) -> Result<(), Failure> {
    if fs::symlink_metadata(partial).is_ok_and(|it| !it.is_dir()) {
        return Err(in_the_way(named, partial));
    }
    let folder = match File::open(partial) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(_) => return Err(in_the_way(named, partial)),
        Ok(folder) => folder,
    };
    if is_locked_by_another(&folder) {
        return Err(busy(named));
    }
    if is_at(&folder, partial) {
        let is_empty = fs::read_dir(partial).is_ok_and(|mut entries| entries.next().is_none());
        fs::remove_dir_all(partial).map_err(|_| in_the_way(named, partial))?;
        if !is_empty {
            note(&removed(partial));
        }
    }
    Ok(())
}

/// Returns true if `path` is the name of `folder`, and no link to it.
fn is_at(folder: &File, path: &Path) -> bool {
    let there = fs::symlink_metadata(path).ok().zip(folder.metadata().ok());
    there.is_some_and(|(there, own)| (there.dev(), there.ino()) == (own.dev(), own.ino()))
}

impl Drop for FinishedFolder {
    fn drop(&mut self) {
        if !self.is_done {
            // The caller has reported an earlier error, which matters more.
            let _ = litter::settle(&self.partial, || fs::remove_dir_all(&self.partial));
        }
    }
}
