//! Names: the one that a file has while it is written, names that last, and files without one.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher, RandomState};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::{env, io};

use rustix::fs::{CWD, OFlags, RenameFlags, renameat_with};
use rustix::io::Errno;

/// The end of the name of what is not complete.
const SUFFIX: &str = ".freehold-partial";

/// The longest name that file systems take, in bytes.
const LONGEST: usize = 255;

/// Returns the path of `place` while it is written. It is the same for every writer, so that they meet.
pub(super) fn partial_of(place: &Path) -> PathBuf {
    let name = place.file_name().unwrap_or_default();
    let mut partial = if name.len() + SUFFIX.len() <= LONGEST { name.to_owned() } else { shortened(name) };
    partial.push(SUFFIX);
    place.with_file_name(partial)
}

/// Returns the beginning of a name, and a number in place of its rest.
fn shortened(name: &OsStr) -> OsString {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    let number = format!(".{:016x}", hasher.finish());
    let kept = LONGEST - SUFFIX.len() - number.len();
    let mut short = OsStr::from_bytes(&name.as_bytes()[..kept]).to_owned();
    short.push(number);
    short
}

/// Renames a file. Fails if there is a file of the new name.
pub(super) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // File systems that cannot do that at once.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
        other => return Ok(other?),
    }
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        Err(_) if fs::symlink_metadata(to).is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(from, to),
    }
}

/// Waits until the name of a file is on the device. Folders that this user may not read, and file systems that know
/// no such thing, are no error.
pub(crate) fn sync_folder_of(place: &Path) -> io::Result<()> {
    let folder = match place.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let Ok(folder) = File::open(folder) else { return Ok(()) };
    match folder.sync_all() {
        Err(error)
            if !matches!(Errno::from_io_error(&error), Some(Errno::INVAL | Errno::NOTSUP | Errno::BADF)) =>
        {
            Err(error)
        }
        _ => Ok(()),
    }
}

/// Opens a file without a name on the device of the file at `beside`, or in the folder for temporary files if that is
/// no file's place.
pub(crate) fn unnamed_file(beside: &Path) -> io::Result<File> {
    let is_stream = fs::metadata(beside).is_ok_and(|it| !it.is_file());
    let folder = match beside.parent() {
        _ if is_stream => env::temp_dir(),
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => ".".into(),
    };
    let nameless = OFlags::TMPFILE.bits() as i32;
    if let Ok(file) = OpenOptions::new().write(true).custom_flags(nameless).mode(0o600).open(&folder) {
        return Ok(file);
    }
    // File systems that cannot do that: a random name, for a moment.
    let path = folder.join(format!(".freehold-{:016x}", RandomState::new().hash_one(beside)));
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    fs::remove_file(&path)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_shortened_and_stay_apart() {
        assert_eq!(partial_of(Path::new("/a/b.arrows")), Path::new("/a/b.arrows.freehold-partial"));
        let [one, other] =
            ["x", "y"].map(|end| partial_of(Path::new(&format!("/a/{}{end}", "n".repeat(254)))));
        assert_ne!(one, other);
        assert_eq!(one.file_name().map(OsStr::len), Some(LONGEST));
    }
}
