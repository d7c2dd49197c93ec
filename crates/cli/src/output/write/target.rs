//! The file that exists at the path of an output.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use anyhow::anyhow;

use super::locks::is_being_written;
use super::refusals::{busy, cannot_create, exists};
use crate::exit::{Cause, Failure};

/// The most symbolic links to follow, as the kernel has it.
const MOST_LINKS: usize = 40;

/// A place to write to.
pub(super) struct Target {
    /// The path that the user gave.
    pub(super) named: PathBuf,
    /// The path of the file itself, behind the user's own symbolic links.
    pub(super) place: PathBuf,
    pub(super) there: There,
}

/// The kind of file at a path.
pub(super) enum There {
    Nothing,
    /// A file that may be replaced.
    File(Metadata),
    /// A pipe, a terminal or the like, which is written directly. True if it was reached as an open file, such as
    /// `/dev/stdout`.
    Stream(bool),
}

impl Target {
    /// Looks at `path`.
    ///
    /// # Errors
    /// A file with something in it unless `force`, a folder, a disk, a symbolic link that is another user's.
    pub(super) fn find(path: &Path, force: bool) -> Result<Self, Failure> {
        let (place, is_open) = follow(path)?;
        let found = match fs::metadata(if is_open { path } else { &place }) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            other => Some(other.map_err(|error| cannot_create(path, error))?),
        };
        let there = match found {
            None if path.as_os_str().as_bytes().ends_with(b"/") || path.file_name().is_none() => {
                return Err(cannot_create(path, io::ErrorKind::IsADirectory.into()));
            }
            None => There::Nothing,
            Some(found) if found.is_dir() && !force => return Err(exists(path)),
            Some(found) if found.is_dir() => {
                return Err(cannot_create(path, io::ErrorKind::IsADirectory.into()));
            }
            Some(found) if found.file_type().is_block_device() => {
                let what = anyhow!("{} is a disk, which would be overwritten; name a file", path.display());
                return Err(Failure::new(Cause::Usage, what));
            }
            Some(found) if is_open || !found.is_file() => There::Stream(is_open),
            // An empty file holds nothing that could be lost: mktemp makes such.
            Some(found) if !force && found.len() > 0 => {
                return Err(if is_being_written(&place) { busy(path) } else { exists(path) });
            }
            Some(found) => There::File(found),
        };
        Ok(Self { named: path.to_owned(), place, there })
    }
}

/// Follows symbolic links. Returns also true if the last one is the kernel's name for an open file.
fn follow(path: &Path) -> Result<(PathBuf, bool), Failure> {
    let proc = fs::metadata("/proc").map(|it| it.dev()).ok();
    let me = rustix::process::geteuid().as_raw();
    let mut place = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(found) = fs::symlink_metadata(&place) else { return Ok((place, false)) };
        if !found.is_symlink() {
            return Ok((place, false));
        }
        // In a folder that all may write to, anybody could lead root to any file.
        if ![me, 0].contains(&found.uid()) {
            let what =
                anyhow!("{} is a symbolic link of another user; name the file behind it", path.display());
            return Err(Failure::new(Cause::Usage, what));
        }
        if Some(found.dev()) == proc && is_open_file(&place) {
            return Ok((place, true));
        }
        let target = fs::read_link(&place).map_err(|error| cannot_create(path, error))?;
        place = place.parent().unwrap_or(Path::new("")).join(target);
    }
    Err(cannot_create(path, io::Error::from_raw_os_error(rustix::io::Errno::LOOP.raw_os_error())))
}

/// Returns true if a link in `/proc` is one of a process's open files.
fn is_open_file(link: &Path) -> bool {
    link.parent().is_some_and(|folder| folder.ends_with("fd"))
}

/// Refuses to write the result over one of the files that it is made of.
pub(crate) fn refuse_input<'p>(
    output: &Path,
    inputs: impl IntoIterator<Item = &'p PathBuf>,
) -> Result<(), Failure> {
    let file = |path: &Path| fs::metadata(path).ok().filter(Metadata::is_file).map(|it| (it.dev(), it.ino()));
    let Some(there) = file(output) else { return Ok(()) };
    if inputs.into_iter().any(|input| file(input) == Some(there)) {
        let what = anyhow!("{} is read for this, and would be replaced; name another file", output.display());
        return Err(Failure::new(Cause::Usage, what));
    }
    Ok(())
}
