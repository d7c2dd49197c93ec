//! The machine and the build that figures were measured with.

use std::path::Path;

use freehold_linux::procfs::read_processors;
use freehold_measure::Environment;

/// Returns this machine and this build.
pub(crate) fn environment() -> Environment {
    Environment::here(read_processors(Path::new("/")).unwrap_or_default().model)
}
