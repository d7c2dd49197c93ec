//! The name that a file has while it is written.

use std::ffi::{OsStr, OsString};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

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
