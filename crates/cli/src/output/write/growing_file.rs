//! A file that remains if its writer is killed.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::claim::{Claim, OnSignal};
use super::names::sync_folder_of;
use super::refusals::{cannot_place, cannot_write};
use super::stream;
use super::target::{Target, There};
use crate::exit::Failure;

/// A file that remains if its writer is killed: a new one is in its place from the start. One that replaces an older
/// one lies beside it until it is complete.
pub(crate) struct GrowingFile {
    /// The path that the user gave.
    named: PathBuf,
    way: Way,
}

enum Way {
    /// In its place.
    New(Claim),
    /// Beside the file that it will replace.
    Beside(Claim),
    Directly(File),
}

impl GrowingFile {
    /// Starts a file. Fails if there is a file with something in it, unless `force`, and if somebody else writes it.
    pub(crate) fn create(path: &Path, force: bool) -> Result<Self, Failure> {
        let target = Target::find(path, force)?;
        let way = if let There::Stream(is_open) = target.there {
            Way::Directly(stream::open(&target, is_open)?)
        } else {
            let claim = Claim::take(&target, OnSignal::Keep)?;
            if claim.replaces() {
                Way::Beside(claim)
            } else if let Err(error) = claim.put_in_place() {
                claim.discard();
                return Err(cannot_place(path, error));
            } else {
                Way::New(claim)
            }
        };
        Ok(Self { named: target.named, way })
    }

    /// Puts the file into its place if it is not there, once it is on the device.
    pub(crate) fn keep(mut self) -> Result<(), Failure> {
        self.flush().map_err(|error| cannot_write(&self.named, error))?;
        let (Way::New(claim) | Way::Beside(claim)) = &self.way else { return Ok(()) };
        claim.file.sync_all().map_err(|error| cannot_write(&self.named, error))?;
        if let Way::Beside(claim) = &self.way {
            claim.put_in_place().map_err(|error| cannot_place(&self.named, error))?;
        }
        sync_folder_of(&claim.place).map_err(|error| cannot_write(&self.named, error))
    }

    /// Removes the file. An older one stays.
    pub(crate) fn discard(self) {
        match self.way {
            // The caller reports an earlier error, which matters more.
            Way::New(claim) => claim.remove_from_place(),
            Way::Beside(claim) => claim.discard(),
            Way::Directly(_) => {}
        }
    }

    /// Returns the path of what was written, if that is a file.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.way {
            Way::New(_) => Some(&self.named),
            Way::Beside(claim) => Some(&claim.partial),
            Way::Directly(_) => None,
        }
    }

    /// Returns true if nothing was written yet.
    pub(crate) fn is_untouched(&self) -> bool {
        match &self.way {
            Way::New(claim) | Way::Beside(claim) => claim.file.metadata().is_ok_and(|it| it.len() == 0),
            Way::Directly(_) => false,
        }
    }
}

impl Write for GrowingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.way {
            Way::New(claim) | Way::Beside(claim) => claim.file.write(bytes),
            Way::Directly(file) => file.write(bytes).map_err(stream::error),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.way {
            Way::New(claim) | Way::Beside(claim) => claim.file.flush(),
            Way::Directly(file) => file.flush(),
        }
    }
}
