//! Errors of applying, building or testing the series.

use std::io;
use std::path::{Path, PathBuf};

use freehold_vm::VmError;

use super::kernels;
use super::place::Place;
use crate::kernel::{KernelError, KernelVersion};

/// The result of applying, building or testing the series.
pub type SeriesResult<T> = Result<T, SeriesError>;

/// Why a command of the series failed. Each message has a remedy.
#[derive(Debug, thiserror::Error)]
pub enum SeriesError {
    /// The kernel cannot be fetched or built.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// A guest cannot be made.
    #[error(transparent)]
    Guest(#[from] VmError),
    /// A file of the series is not valid.
    #[error("{path}: {fault}")]
    Fault {
        /// The file.
        path: PathBuf,
        /// The fault, and the correct form.
        fault: String,
    },
    /// The series is for other kernels.
    #[error("the series {series} is for Linux {}, not for {version}", kernels::names(kernels))]
    OtherKernel {
        /// The series.
        series: String,
        /// The requested kernel.
        version: KernelVersion,
        /// The kernels that it is for.
        kernels: Vec<KernelVersion>,
    },
    /// A semantic patch changed other places than it names.
    #[error("{hunk} does not fit Linux {version}: {fault}; nothing was changed")]
    Misfit {
        /// The semantic patch, or the line.
        hunk: String,
        /// The kernel.
        version: KernelVersion,
        /// The missing or surplus places.
        fault: Misfit,
    },
    /// The source tree already contains the series.
    #[error("{tree} has the series already: {file} of {patch} exists; nothing was changed")]
    AlreadyPatched {
        /// The source tree.
        tree: PathBuf,
        /// The patch.
        patch: String,
        /// The file that shows it.
        file: String,
    },
    /// git has no name and address for the mails' sender.
    #[error(
        "git has no name and address to sign the patches with: \
         git config --global user.name NAME; git config --global user.email ADDRESS"
    )]
    NoIdentity,
    /// Applying the mails gives other files than the semantic patches.
    #[error("the mails and the semantic patches give different files: {file} differs after `git am`")]
    NotTheSame {
        /// The file.
        file: String,
    },
    /// A program other than the kernel's build failed.
    #[error("{command} failed: {said}")]
    Failed {
        /// The command.
        command: String,
        /// Its last output.
        said: String,
    },
}

/// Why a hunk does not fit a kernel.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Misfit {
    /// The changed places are not those that the hunk names.
    #[error("{}", differing(missing, surplus))]
    Places {
        /// Places that are named but not changed.
        missing: Vec<Place>,
        /// Places that are changed but not named.
        surplus: Vec<Place>,
    },
    /// The kernel lacks a file.
    #[error("the kernel has no file {0}")]
    NoFile(String),
    /// A file of the kernel lacks a line.
    #[error("{file} has no line `{line}`")]
    NoLine {
        /// The file.
        file: String,
        /// The line.
        line: String,
    },
    /// Coccinelle failed.
    #[error("spatch cannot apply it to {file}: {said}")]
    Spatch {
        /// The file.
        file: String,
        /// Its last output.
        said: String,
    },
}

impl SeriesError {
    /// Returns true if the error is a finding about the series, not a problem of the machine.
    pub const fn is_finding(&self) -> bool {
        matches!(self, Self::Fault { .. } | Self::Misfit { .. } | Self::NotTheSame { .. })
    }

    /// Returns a function for `map_err` that adds the file's name.
    pub(super) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let named = KernelError::file(path);
        move |error| Self::Kernel(named(error))
    }

    /// Returns the error for a file of the series that is not valid.
    pub(super) fn fault(path: &Path, fault: impl Into<String>) -> Self {
        Self::Fault { path: path.to_owned(), fault: fault.into() }
    }
}

fn differing(missing: &[Place], surplus: &[Place]) -> String {
    let list = |places: &[Place]| places.iter().map(Place::to_string).collect::<Vec<_>>().join(", ");
    let mut parts = Vec::new();
    if !missing.is_empty() {
        parts.push(format!("it should change {}, and does not", list(missing)));
    }
    if !surplus.is_empty() {
        parts.push(format!("it changes {}, which it does not name", list(surplus)));
    }
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misfit_error_names_hunk_kernel_and_places() {
        let place = |holder: &str| Place { file: "mm/list.c".into(), holder: holder.into() };
        let fault =
            Misfit::Places { missing: vec![place("add"), place("add")], surplus: vec![place("drop")] };
        let hunk = "0001-counts/40-add.cocci".to_owned();
        let error = SeriesError::Misfit { hunk, version: KernelVersion::V7_3, fault };
        assert!(error.is_finding() && !SeriesError::NoIdentity.is_finding());
        assert_eq!(
            error.to_string(),
            "0001-counts/40-add.cocci does not fit Linux 7.3: it should change mm/list.c add, mm/list.c add, \
             and does not; it changes mm/list.c drop, which it does not name; nothing was changed"
        );
    }
}
