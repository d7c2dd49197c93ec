//! Files without a name, which disappear when they are closed.

use std::env;
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

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
    // File systems that cannot do that: a name that nobody can foretell, for a moment.
    let path = folder.join(format!(".freehold-{:016x}", RandomState::new().hash_one(beside)));
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    fs::remove_file(&path)?;
    Ok(file)
}
