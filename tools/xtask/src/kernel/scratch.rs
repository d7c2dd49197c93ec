//! Temporary folders.

use std::env;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::error::{KernelError, KernelResult};

static FOLDERS: AtomicU32 = AtomicU32::new(0);

/// A temporary folder. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// Makes an empty folder among the machine's temporary folders.
    pub(crate) fn new() -> KernelResult<Self> {
        Self::named(&env::temp_dir(), "freehold")
    }

    /// Makes an empty, hidden folder in another one. Files in it can be moved to that folder in one
    /// step.
    pub(crate) fn within(folder: &Path) -> KernelResult<Self> {
        Self::named(folder, ".freehold")
    }

    fn named(folder: &Path, name: &str) -> KernelResult<Self> {
        loop {
            let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
            let path = folder.join(format!("{name}-{}-{number}", std::process::id()));
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self(path)),
                // A killed process with the same pid left this folder.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(KernelError::file(&path)(error)),
            }
        }
    }

    /// Returns the path of the folder.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file in the folder, and makes the folders that it needs.
    pub(crate) fn write(&self, name: &str, text: &str) -> KernelResult<PathBuf> {
        let path = self.0.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(KernelError::file(parent))?;
        }
        fs::write(&path, text).map_err(KernelError::file(&path))?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A folder that cannot be removed does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}
