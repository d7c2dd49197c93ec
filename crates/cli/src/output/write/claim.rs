//! The right to write one file, which one writer has at a time.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::litter;
use super::locks::{is_being_written, is_locked_by_another, open_to_lock};
use super::names::partial_of;
use super::names::rename_new;
use super::refusals::{busy, cannot_create, in_the_way};
use super::target::{Target, There};
use crate::exit::Failure;
use crate::output::console::note;

/// The most attempts, when others claim and leave the same file meanwhile.
const ATTEMPTS: usize = 1000;

/// A new file beside its place, locked while it is open.
pub(super) struct Claim {
    pub(super) file: File,
    pub(super) partial: PathBuf,
    pub(super) place: PathBuf,
    /// True if a file is replaced.
    replaces: bool,
}

/// The effect of a fatal signal on a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OnSignal {
    Keep,
    Remove,
}

impl Claim {
    /// Claims the place of `target`. Takes away what a killed writer left there.
    ///
    /// # Errors
    /// If another writer has the place, or the folder takes no file.
    pub(super) fn take(target: &Target, on_signal: OnSignal) -> Result<Self, Failure> {
        litter::survive_file_limit();
        let partial = partial_of(&target.place);
        let old = match &target.there {
            There::File(old) => Some(old),
            There::Nothing | There::Stream(_) => None,
        };
        let file = create_locked(&target.named, &partial, old.is_some(), on_signal)?;
        let claim = Self { file, partial, place: target.place.clone(), replaces: old.is_some() };
        let ready = match old {
            // A recording that is not finished is written in its place.
            Some(_) if is_being_written(&claim.place) => Err(busy(&target.named)),
            Some(old) => claim.be_like(old).map_err(|error| cannot_create(&target.named, error)),
            None => Ok(()),
        };
        match ready {
            Ok(()) => Ok(claim),
            Err(failure) => {
                claim.discard();
                Err(failure)
            }
        }
    }

    /// Gives the new file the rights, and where possible the owner, of the one that it replaces.
    fn be_like(&self, old: &Metadata) -> io::Result<()> {
        let new = self.file.metadata()?;
        if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
            // Only root may give files away.
            let _ = fchown(&self.file, Some(old.uid()), Some(old.gid()));
        }
        self.file.set_permissions(fs::Permissions::from_mode(old.mode() & 0o777))
    }

    /// Returns true if a file is replaced.
    pub(super) fn replaces(&self) -> bool {
        self.replaces
    }

    /// Renames the file to its place. Fails if there is a file that was not there before.
    pub(super) fn put_in_place(&self) -> io::Result<()> {
        litter::settle(&self.partial, || {
            if self.replaces {
                fs::rename(&self.partial, &self.place)
            } else {
                rename_new(&self.partial, &self.place)
            }
        })
    }

    /// Removes the file from its place if it still is there.
    pub(super) fn remove_from_place(&self) {
        if is_at(&self.file, &self.place) {
            // The caller reports an earlier error, which matters more.
            let _ = fs::remove_file(&self.place);
        }
    }

    /// Removes the file.
    pub(super) fn discard(&self) {
        // The caller reports an earlier error, which matters more.
        let _ = litter::settle(&self.partial, || fs::remove_file(&self.partial));
    }
}

/// Creates and locks the file at `partial`. Only its owner may read it at first if `is_private`.
fn create_locked(
    named: &Path,
    partial: &Path,
    is_private: bool,
    on_signal: OnSignal,
) -> Result<File, Failure> {
    let mode = if is_private { 0o600 } else { 0o666 };
    let create = || {
        let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(partial)?;
        // Another writer may look at it, and take it away, before it is locked.
        Ok((!is_locked_by_another(&file) && is_at(&file, partial)).then_some(file))
    };
    for _ in 0..ATTEMPTS {
        let created = match on_signal {
            OnSignal::Keep => create(),
            OnSignal::Remove => litter::begin(partial, create),
        };
        match created {
            Ok(Some(file)) => return Ok(file),
            Ok(None) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => take_away(named, partial)?,
            Err(error) => return Err(cannot_create(named, error)),
        }
    }
    Err(busy(named))
}

/// Removes the unfinished file of a killed writer. Fails if its writer lives, or if it is something else.
fn take_away(named: &Path, partial: &Path) -> Result<(), Failure> {
    let file = match open_to_lock(partial) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(_) => return Err(in_the_way(named, partial)),
    };
    if !file.metadata().is_ok_and(|it| it.is_file()) {
        return Err(in_the_way(named, partial));
    }
    if is_locked_by_another(&file) {
        return Err(busy(named));
    }
    if is_at(&file, partial) {
        let is_empty = file.metadata().is_ok_and(|it| it.len() == 0);
        match fs::remove_file(partial) {
            // One that starts at the same moment is not worth a word.
            Ok(()) if is_empty => {}
            Ok(()) => note(&removed(partial)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(_) => return Err(in_the_way(named, partial)),
        }
    }
    Ok(())
}

/// Returns the message that something unfinished was removed.
pub(super) fn removed(partial: &Path) -> String {
    format!("freehold: removed {}, which a killed freehold had not finished", partial.display())
}

/// Returns true if `path` is a name of `file`.
fn is_at(file: &File, path: &Path) -> bool {
    let same = |a: Metadata, b: Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    fs::symlink_metadata(path).ok().zip(file.metadata().ok()).is_some_and(|(there, own)| same(there, own))
}

/// Opens and locks a file that is kept between runs, or creates it. Follows no link. Returns `None` if another process
/// has locked it.
pub(crate) fn open_locked(path: &Path) -> Result<Option<File>, Failure> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    for _ in 0..ATTEMPTS {
        let opened = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .custom_flags(flags)
            .open(path);
        let file = match opened {
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
                return Err(in_the_way(path, path));
            }
            other => other.map_err(|error| cannot_create(path, error))?,
        };
        if !file.metadata().is_ok_and(|it| it.is_file()) {
            return Err(in_the_way(path, path));
        }
        if is_locked_by_another(&file) {
            return Ok(None);
        }
        if is_at(&file, path) {
            return Ok(Some(file));
        }
    }
    Ok(None)
}
