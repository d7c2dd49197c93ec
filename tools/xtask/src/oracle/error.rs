//! Errors of running a script on a kernel.

use std::io;
use std::path::{Path, PathBuf};

use freehold_oracle::KernelVersion;

use crate::kernel::KernelError;
use crate::series::SeriesError;

/// The result of building or running a kernel.
pub type OracleResult<T> = Result<T, OracleError>;

/// Why there is no transcript. Each message has a remedy.
#[derive(Debug, thiserror::Error)]
pub enum OracleError {
    /// The kernel cannot be fetched or built.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The kernel's series does not fit.
    #[error(transparent)]
    Series(#[from] SeriesError),
    /// A file of the kernel lacks an expected line.
    #[error("the kernel source cannot be prepared: {file} has no line `{line}`, so {consequence}")]
    NoSuchLine {
        /// The file, relative to the tree.
        file: &'static str,
        /// The line.
        line: &'static str,
        /// Why the line matters.
        consequence: &'static str,
    },
    /// The kernel cannot have as many CPUs as the script needs.
    #[error("Linux {version} under User-Mode Linux plays on at most {most} CPUs, not on {cpus}")]
    TooManyCpus {
        /// The kernel.
        version: KernelVersion,
        /// Its most CPUs.
        most: u16,
        /// The script's CPUs.
        cpus: u16,
    },
    /// The kernel ended before it reached the script.
    #[error(
        "kernel does not boot: Linux {version} with mem={memory} ended with {status}; its console ended with\n{console}"
    )]
    NoBoot {
        /// The kernel.
        version: KernelVersion,
        /// Its memory.
        memory: String,
        /// The exit status of the process.
        status: String,
        /// The last lines of the console.
        console: String,
    },
    /// The oracle refused to play the script.
    #[error("the oracle in Linux {version} does not play {script}: {line}")]
    Refused {
        /// The kernel.
        version: KernelVersion,
        /// The script.
        script: PathBuf,
        /// The oracle's reason.
        line: String,
    },
    /// The kernel did not end within the limit.
    #[error(
        "Linux {version} did not finish {script} within {seconds} s and was stopped; its console ended with\n{console}"
    )]
    TimedOut {
        /// The kernel.
        version: KernelVersion,
        /// The script.
        script: PathBuf,
        /// The limit.
        seconds: u64,
        /// The last lines of the console.
        console: String,
    },
    /// The transcript is not complete.
    #[error(
        "the transcript of {script} by Linux {version} is not complete ({detail}); the console ended with\n{console}"
    )]
    NotWhole {
        /// The kernel.
        version: KernelVersion,
        /// The script.
        script: PathBuf,
        /// The fault.
        detail: String,
        /// The last lines of the console.
        console: String,
    },
    /// The transcript cannot be compared with the engine.
    #[error("{path}: {error}")]
    Transcript {
        /// The transcript.
        path: PathBuf,
        /// The fault.
        #[source]
        error: freehold_oracle::TranscriptError,
    },
    /// The engine or the comparison panicked.
    #[error("a comparison panicked, see above: the engine has a bug, or the comparison")]
    Panicked,
    /// The kernel cannot play the family.
    #[error("Linux {version} has no family `{family}`: its scripts need more CPUs, or passes of tidying")]
    NoSuchFamily {
        /// The kernel.
        version: KernelVersion,
        /// The family.
        family: &'static str,
    },
    /// A kept transcript, or a script to keep, is not valid.
    #[error("{path}: {error}")]
    Golden {
        /// The file.
        path: PathBuf,
        /// The fault.
        #[source]
        error: freehold_oracle::GoldenError,
    },
}

impl OracleError {
    /// Returns a function for `map_err` that adds the file's name.
    pub(super) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let named = KernelError::file(path);
        move |error| Self::Kernel(named(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::error::tail;

    #[test]
    fn messages_have_the_cause_and_a_remedy() {
        let boot = OracleError::NoBoot {
            version: KernelVersion::V6_12,
            memory: "1M".into(),
            status: "exit status: 1".into(),
            console: tail("too small", 5),
        };
        assert_eq!(
            boot.to_string(),
            "kernel does not boot: Linux 6.12 with mem=1M ended with exit status: 1; its console ended with\n    too small"
        );
    }
}
