//! A file that replaces another only when it is complete.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::claim::{Claim, OnSignal};
use super::names::sync_folder_of;
use super::refusals::{cannot_place, cannot_write};
use super::stream;
use super::target::{Target, There};
use crate::exit::Failure;

/// A file that takes its place only when it is complete; until then an older file stays there. Dropping it before
/// removes what was written.
///
/// A device or a pipe cannot be replaced and is written directly.
pub(crate) struct FinishedFile {
    /// The path that the user gave.
    named: PathBuf,
    way: Way,
    is_done: bool,
}

enum Way {
    Beside(Claim),
    Directly(File),
}

impl FinishedFile {
    /// Starts a file that will become `path`. Fails if there is a file with something in it, unless `force`, and if
    /// somebody else writes it.
    pub(crate) fn create(path: &Path, force: bool) -> Result<Self, Failure> {
        let target = Target::find(path, force)?;
        let way = if let There::Stream(is_open) = target.there {
            Way::Directly(stream::open(&target, is_open)?)
        } else {
            Way::Beside(Claim::take(&target, OnSignal::Remove)?)
        };
        Ok(Self { named: target.named, way, is_done: false })
    }

    /// Writes a text.
    pub(crate) fn write_text(&mut self, text: &str) -> Result<(), Failure> {
        self.write_all(text.as_bytes()).map_err(|error| cannot_write(&self.named, error))
    }

    /// Puts the file into its place, once it is on the device.
    pub(crate) fn keep(self) -> Result<(), Failure> {
        Self::keep_all([self])
    }

    /// Puts several files into their places, once all are on their devices.
    pub(crate) fn keep_all(files: impl IntoIterator<Item = Self>) -> Result<(), Failure> {
        let mut files: Vec<_> = files.into_iter().collect();
        for file in &mut files {
            file.sync().map_err(|error| cannot_write(&file.named, error))?;
        }
        for file in &mut files {
            file.put_in_place()?;
        }
        for file in &files {
            if let Way::Beside(claim) = &file.way {
                sync_folder_of(&claim.place).map_err(|error| cannot_write(&file.named, error))?;
            }
        }
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        match &mut self.way {
            Way::Beside(claim) => claim.file.sync_all(),
            Way::Directly(file) => file.flush(),
        }
    }

    fn put_in_place(&mut self) -> Result<(), Failure> {
        if let Way::Beside(claim) = &self.way {
            claim.put_in_place().map_err(|error| cannot_place(&self.named, error))?;
        }
        self.is_done = true;
        Ok(())
    }
}

impl Write for FinishedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.way {
            Way::Beside(claim) => claim.file.write(bytes),
            Way::Directly(file) => file.write(bytes).map_err(stream::error),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.way {
            Way::Beside(claim) => claim.file.flush(),
            Way::Directly(file) => file.flush(),
        }
    }
}

impl Drop for FinishedFile {
    fn drop(&mut self) {
        if let (false, Way::Beside(claim)) = (self.is_done, &self.way) {
            claim.discard();
        }
    }
}
