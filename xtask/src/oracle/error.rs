//! What can go wrong before a kernel has answered.

use std::io;
use std::path::{Path, PathBuf};

use super::version::KernelVersion;

/// The result of building or running a kernel.
pub type Result<T, E = OracleError> = std::result::Result<T, E>;

/// Why there is no answer; each text says what to do.
#[derive(Debug, thiserror::Error)]
pub enum OracleError {
    /// The source cannot be fetched.
    #[error(
        "no package to be had: {package} cannot be fetched ({detail}); \
         give the folder of an unpacked kernel source with --source DIR"
    )]
    NoPackage {
        /// Its name.
        package: String,
        /// What the last attempt said.
        detail: String,
    },
    /// A program that the build needs is missing.
    #[error(
        "no compiler: `{program}` is not on this machine; building a kernel needs \
         gcc, make, flex, bison, bc and the headers of libelf \
         (apt-get install gcc make flex bison bc libelf-dev)"
    )]
    NoCompiler {
        /// Its name.
        program: String,
    },
    /// Another program that is needed is missing.
    #[error("`{program}` is not on this machine; it comes with {package}")]
    NoProgram {
        /// Its name.
        program: String,
        /// Debian's package that has it.
        package: &'static str,
    },
    /// User-Mode Linux exists for one architecture only.
    #[error("User-Mode Linux runs on x86-64 only, and this machine is {0}")]
    NoArchitecture(&'static str),
    /// The folder is not a source tree of that kernel.
    #[error("{path} is not an unpacked source of Linux {version}: {detail}")]
    BadSource {
        /// The folder.
        path: PathBuf,
        /// What was asked for.
        version: KernelVersion,
        /// What was found instead.
        detail: String,
    },
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
    /// The kernel's configuration came out differently.
    #[error("the kernel cannot be configured: {fault}, see {config}")]
    Configuration {
        /// Which option, and what about it.
        fault: String,
        /// The configuration file.
        config: PathBuf,
    },
    /// A command failed.
    #[error("the kernel does not build: {command} failed, see {log}; it ended with\n{tail}")]
    Build {
        /// The command.
        command: String,
        /// Where all that it said is.
        log: PathBuf,
        /// Its last lines.
        tail: String,
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
    /// A place for the kernels cannot be found.
    #[error("there is no place to keep kernels: set FREEHOLD_CACHE, XDG_CACHE_HOME or HOME")]
    NoCache,
    /// A file cannot be read or written.
    #[error("{path}: {error}")]
    File {
        /// Which one.
        path: PathBuf,
        /// Why.
        #[source]
        error: io::Error,
    },
}

impl OracleError {
    /// For `map_err`: names the file.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::File { path, error }
    }
}

/// The last `lines` lines of `text` that say anything, indented.
pub(crate) fn tail(text: &str, lines: usize) -> String {
    let said: Vec<_> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    if said.is_empty() {
        return "    (nothing)".to_owned();
    }
    let last = &said[said.len().saturating_sub(lines)..];
    last.iter().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_the_last_lines_with_words() {
        assert_eq!(tail("a\n\nb  \nc\n\n", 2), "    b\n    c");
        assert_eq!(tail("\n", 2), "    (nothing)");
    }

    #[test]
    fn each_failure_names_itself_and_what_to_do() {
        let package = OracleError::NoPackage { package: "linux-source-7.3".into(), detail: "offline".into() };
        assert_eq!(
            package.to_string(),
            "no package to be had: linux-source-7.3 cannot be fetched (offline); \
             give the folder of an unpacked kernel source with --source DIR"
        );
        let compiler = OracleError::NoCompiler { program: "bison".into() }.to_string();
        assert!(compiler.starts_with("no compiler: `bison` is not on this machine"), "{compiler}");
        assert!(compiler.contains("apt-get install"), "{compiler}");
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
