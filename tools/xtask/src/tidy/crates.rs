//! The crates of the repository whose sources are checked.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Crates outside of the folder `crates`.
const BESIDE: [&str; 4] = ["fuzz", "python", "tools/bench", "tools/xtask"];

/// A crate of the repository.
pub(super) struct Crate {
    /// Its folder, such as `crates/trace`.
    pub(super) name: String,
    /// The path of its folder `src`.
    pub(super) source: PathBuf,
}

impl Crate {
    /// Returns the root files of the crate's modules: `lib.rs` and `main.rs`, if they exist.
    pub(super) fn root_files(&self) -> Vec<PathBuf> {
        let files = ["lib.rs", "main.rs"].map(|file| self.source.join(file));
        files.into_iter().filter(|file| file.exists()).collect()
    }
}

/// Returns every crate under `root`, sorted by name.
///
/// # Errors
/// If a folder cannot be read.
pub(super) fn crates(root: &Path) -> io::Result<Vec<Crate>> {
    let mut names: Vec<String> = BESIDE.map(str::to_owned).into();
    if root.join("crates").is_dir() {
        for entry in fs::read_dir(root.join("crates"))? {
            names.push(format!("crates/{}", entry?.file_name().to_string_lossy()));
        }
    }
    names.sort();
    let found = names.into_iter().map(|name| Crate { source: root.join(&name).join("src"), name });
    Ok(found.filter(|found| found.source.is_dir()).collect())
}
