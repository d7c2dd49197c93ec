//! The cache of kernels: a folder outside of the repository, with a folder for each source.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::{KernelError, KernelResult};
use super::source;
use super::version::KernelVersion;

/// The time for which kernels that this checkout does not use are kept for other checkouts.
const OTHERS_MAY_USE_IT: Duration = Duration::from_hours(7 * 24);

/// The folder of one kernel in the cache.
#[derive(Debug)]
pub(crate) struct Folder {
    version: KernelVersion,
    path: PathBuf,
}

impl Folder {
    /// Returns the folder below `room` of the cache; a `source` that the user named has a folder of
    /// its own.
    pub(crate) fn new(room: &str, version: KernelVersion, source: Option<&Path>) -> KernelResult<Self> {
        let cache = cache()?;
        // Kernels are run from other folders, so the path must be absolute.
        let cache = std::path::absolute(&cache).map_err(KernelError::file(&cache))?;
        let kernels = cache.join(room);
        let path = match source {
            None => kernels.join(version.name()),
            Some(source) => {
                source::check(version, source)?;
                let source = fs::canonicalize(source).map_err(KernelError::file(source))?;
                let hash = crc32fast::hash(source.as_os_str().as_encoded_bytes());
                kernels.join(format!("{version}-{hash:08x}"))
            }
        };
        fs::create_dir_all(&path).map_err(KernelError::file(&path))?;
        Ok(Self { version, path })
    }

    /// Returns a folder outside of the cache.
    #[cfg(test)]
    pub(crate) fn at(path: &Path, version: KernelVersion) -> Self {
        Self { version, path: path.to_owned() }
    }

    /// Returns the path of the folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the kernel's version.
    pub(crate) fn version(&self) -> KernelVersion {
        self.version
    }

    /// Locks the folder; waits until no other process builds in it.
    pub(crate) fn lock(&self) -> KernelResult<File> {
        let path = self.path.join("lock");
        let lock = File::create(&path).map_err(KernelError::file(&path))?;
        if lock.try_lock().is_err() {
            eprintln!("waiting for another process that builds Linux {}", self.version);
            lock.lock().map_err(KernelError::file(&path))?;
        }
        Ok(lock)
    }

    /// Moves a program to `place` in one step, and removes old programs whose names start with
    /// `prefix`.
    pub(crate) fn keep(&self, program: &Path, place: &Path, prefix: &str) -> KernelResult<()> {
        let partial = self.path.join("partial");
        fs::copy(program, &partial).map_err(KernelError::file(program))?;
        fs::rename(&partial, place).map_err(KernelError::file(place))?;
        let entries = fs::read_dir(&self.path).map_err(KernelError::file(&self.path))?;
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            // Other checkouts may still use a recent program. A file that cannot be removed
            // does no harm.
            if name.starts_with(prefix) && path != place && is_old(&path) {
                let _ = fs::remove_file(&path);
            }
        }
        Ok(())
    }
}

fn is_old(path: &Path) -> bool {
    let modified = fs::metadata(path).and_then(|file| file.modified());
    modified.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > OTHERS_MAY_USE_IT))
}

/// Returns the path of the cache.
pub(crate) fn cache() -> KernelResult<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("FREEHOLD_CACHE")
        .or_else(|| Some(set("XDG_CACHE_HOME")?.join("freehold")))
        .or_else(|| Some(set("HOME")?.join(".cache/freehold")))
        .ok_or(KernelError::NoCache)
}
