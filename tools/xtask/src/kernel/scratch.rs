//! Temporary folders.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::{Builder, TempDir};

use super::error::{KernelError, KernelResult};

/// A temporary folder. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct Scratch(TempDir);

impl Scratch {
    /// Makes an empty folder among the machine's temporary folders.
    pub(crate) fn new() -> KernelResult<Self> {
        let made = Builder::new().prefix("freehold-").tempdir();
        made.map(Self).map_err(KernelError::file(&std::env::temp_dir()))
    }

    /// Makes an empty, hidden folder in another one. Files in it can be moved to that folder in one
    /// step.
    pub(crate) fn within(folder: &Path) -> KernelResult<Self> {
        let made = Builder::new().prefix(".freehold-").tempdir_in(folder);
        made.map(Self).map_err(KernelError::file(folder))
    }

    /// Returns the path of the folder.
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file in the folder, and makes the folders that it needs.
    pub(crate) fn write(&self, name: &str, text: &str) -> KernelResult<PathBuf> {
        let path = self.path().join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(KernelError::file(parent))?;
        }
        fs::write(&path, text).map_err(KernelError::file(&path))?;
        Ok(path)
    }
}
