//! A file that is written at its final path from the start.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::refusals::{cannot_create, exists};
use crate::exit::Failure;

/// A file that is written at its final path from the start, so that it remains if the process is killed.
///
/// An older file stays intact until the first write.
#[derive(Debug)]
pub(crate) struct GrowingFile {
    file: File,
    path: PathBuf,
    /// True if this created the file.
    is_new: bool,
    /// True until the first write, while the file still holds its old contents.
    is_old: bool,
}

impl GrowingFile {
    /// Opens `path`. Fails if the file exists, unless `force`.
    pub(crate) fn create(path: &Path, force: bool) -> Result<Self, Failure> {
        let opened = match OpenOptions::new().write(true).create_new(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => None,
            other => Some(other),
        };
        let is_new = opened.is_some();
        let file = match opened {
            Some(file) => file,
            None if !force => return Err(exists(path)),
            None => OpenOptions::new().write(true).open(path),
        };
        let file = file.map_err(|error| cannot_create(path, error))?;
        let is_old = !is_new && file.metadata().is_ok_and(|it| it.is_file());
        Ok(Self { file, path: path.to_owned(), is_new, is_old })
    }

    /// Removes the file if this created it.
    pub(crate) fn discard(self) {
        if self.is_new {
            // The caller reports an earlier error, which matters more.
            let _ = std::fs::remove_file(&self.path);
        }
    }

    /// Returns true if nothing was written yet.
    pub(crate) fn is_untouched(&self) -> bool {
        self.is_old || self.file.metadata().is_ok_and(|it| it.len() == 0)
    }
}

impl Write for GrowingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_old {
            self.file.set_len(0)?;
            self.is_old = false;
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
