//! Why a web configuration cannot be used.

use std::io;
use std::path::{Path, PathBuf};

/// Why a web configuration cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WebConfigError {
    /// A file cannot be read.
    #[error("{} cannot be read: {error}. Name a file that this user may read", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// A line says what is not known, or not what is expected.
    #[error("{}:{line}: {what}", .path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line's number, the first being 1.
        line: usize,
        /// What is wrong, and what to do.
        what: String,
    },
    /// What a file says cannot be used as a whole.
    #[error("{}: {what}", .path.display())]
    Whole {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what to do.
        what: String,
    },
}

impl WebConfigError {
    pub(super) fn whole(path: &Path, what: impl Into<String>) -> Self {
        Self::Whole { path: path.to_owned(), what: what.into() }
    }

    pub(super) fn unreadable(path: &Path, error: io::Error) -> Self {
        Self::Unreadable { path: path.to_owned(), error }
    }
}
