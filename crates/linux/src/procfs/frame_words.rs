//! Reads files of `/proc` with a 64-bit word for each frame: `kpageflags`, `kpagecgroup`.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::read::refuse_special;
use crate::error::Error;

/// Bytes of a frame's word.
pub(crate) const WORD_BYTES: usize = 8;

/// An open file with a word for each frame.
#[derive(Debug)]
pub(crate) struct FrameWords {
    path: PathBuf,
    file: File,
}

impl FrameWords {
    /// Opens `proc/kpageflags` below `root`.
    ///
    /// # Errors
    /// [`Error::NoKpageflags`] if the kernel has none, [`Error::NotRoot`] if access is refused.
    pub(crate) fn kpageflags(root: &Path) -> Result<Self, Error> {
        let path = root.join("proc/kpageflags");
        Self::open(&path).map_err(|error| no_kpageflags(error, path))
    }

    /// Opens a file.
    ///
    /// # Errors
    /// If the file is missing, access is refused, or it is a pipe, a device or a socket.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        refuse_special(path)?;
        let file = File::open(path).map_err(|e| Error::io("read", path, e))?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Returns the number of frames in a copy of the file; 0 on a live machine, where `/proc` shows
    /// no length.
    pub(crate) fn frames(&self) -> u64 {
        self.file.metadata().map_or(0, |metadata| metadata.len() / WORD_BYTES as u64)
    }

    /// Reads the words of the frames from `first_pfn` until `buffer` is full or the file ends.
    /// Returns the bytes read.
    pub(crate) fn read(&self, first_pfn: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let start = first_pfn.saturating_mul(WORD_BYTES as u64);
        let mut filled = 0;
        while filled < buffer.len() {
            match self.file.read_at(&mut buffer[filled..], start.saturating_add(filled as u64)) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(filled)
    }

    /// Adds the file's name to an error of [`Self::read`].
    pub(crate) fn failed(&self, error: io::Error) -> Error {
        Error::io("read", &self.path, error)
    }
}

/// Returns the words in `bytes`, without an incomplete last one.
pub(crate) fn words(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.as_chunks::<WORD_BYTES>().0.iter().map(|word| u64::from_le_bytes(*word))
}

/// Converts an error of opening `proc/kpageflags`: if it is missing, the kernel was configured without
/// it.
pub(super) fn no_kpageflags(error: Error, path: PathBuf) -> Error {
    match error {
        Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => Error::NoKpageflags { path },
        other => other,
    }
}
