//! What can go wrong before a kernel has answered.

use std::io;
use std::path::{Path, PathBuf};

use crate::kernel::{KernelError, KernelVersion};

/// The result of building or running a kernel.
pub type OracleResult<T> = Result<T, OracleError>;

/// Why there is no answer; each text says what to do.
#[derive(Debug, thiserror::Error)]
pub enum OracleError {
    /// The kernel cannot be had or built.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// A file of the kernel is not as expected.
    #[error("the kernel source cannot be prepared: {file} has no line `{line}`, so {consequence}")]
    NoSuchLine {
        /// The file, from the top of the tree.
        file: &'static str,
        /// The line.
        line: &'static str,
        /// Why that matters.
        consequence: &'static str,
    },
    /// The kernel is not made for such a script.
    #[error("Linux {version} under User-Mode Linux plays on at most {most} CPUs, not on {cpus}")]
    TooManyCpus {
        /// The kernel.
        version: KernelVersion,
        /// Its limit.
        most: u16,
        /// What was asked for.
        cpus: u16,
    },
    /// The kernel stopped before it came to the script.
    #[error(
        "kernel does not boot: Linux {version} with mem={memory} ended with {status}; it said\n{console}"
    )]
    NoBoot {
        /// The kernel.
        version: KernelVersion,
        /// Its memory.
        memory: String,
        /// How the process ended.
        status: String,
        /// Its last lines.
        console: String,
    },
    /// The oracle said why it does not play.
    #[error("the oracle in Linux {version} does not play {script}: {line}")]
    Refused {
        /// The kernel.
        version: KernelVersion,
        /// The script.
        script: PathBuf,
        /// Its own words.
        line: String,
    },
    /// The kernel did not come to an end.
    #[error("Linux {version} did not finish {script} within {seconds} s and was stopped; it said\n{console}")]
    TimedOut {
        /// The kernel.
        version: KernelVersion,
        /// The script.
        script: PathBuf,
        /// The limit.
        seconds: u64,
        /// Its last lines.
        console: String,
    },
    /// The transcript has no proper end.
    #[error(
        "the transcript of {script} by Linux {version} is not whole ({detail}); the kernel said\n{console}"
    )]
    NotWhole {
        /// The kernel.
        version: KernelVersion,
        /// The script.
        script: PathBuf,
        /// What is wrong with it.
        detail: String,
        /// The kernel's last lines.
        console: String,
    },
    /// The transcript cannot be held against the engine.
    #[error("{path}: {error}")]
    Transcript {
        /// Which one.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        error: freehold_oracle::TranscriptError,
    },
    /// The engine, or what holds it against the kernel, panicked.
    #[error("a comparison panicked, see above: the engine has a bug, or the comparison")]
    Panicked,
    /// Nothing was asked.
    #[error("Linux {version} has no family `{family}`: its scripts need more CPUs than that kernel has")]
    NoSuchFamily {
        /// The kernel.
        version: KernelVersion,
        /// The family.
        family: &'static str,
    },
    /// A kept transcript, or a script to keep, is no good.
    #[error("{path}: {error}")]
    Golden {
        /// Which one.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        error: freehold_oracle::GoldenError,
    },
}

impl OracleError {
    /// For `map_err`: names the file.
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
    fn each_failure_names_itself_and_what_to_do() {
        let boot = OracleError::NoBoot {
            version: KernelVersion::V6_12,
            memory: "1M".into(),
            status: "exit status: 1".into(),
            console: tail("too small", 5),
        };
        assert_eq!(
            boot.to_string(),
            "kernel does not boot: Linux 6.12 with mem=1M ended with exit status: 1; it said\n    too small"
        );
    }
}
