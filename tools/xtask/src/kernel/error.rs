//! Errors of getting or building a kernel.

use std::io;
use std::path::{Path, PathBuf};

use super::version::KernelVersion;

/// The result of getting or building a kernel.
pub type KernelResult<T> = Result<T, KernelError>;

/// Why a kernel cannot be fetched or built. Each message has a remedy.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// The source cannot be fetched.
    #[error(
        "{package} cannot be fetched ({detail}); \
         give the folder of an unpacked kernel source with --source DIR"
    )]
    NoPackage {
        /// The name of the package.
        package: String,
        /// The output of the last attempt.
        detail: String,
    },
    /// A downloaded file has a wrong checksum.
    #[error(
        "{path} has the SHA-256 {found} instead of {wanted} and is not used; \
         give the folder of an unpacked kernel source with --source DIR"
    )]
    BadSum {
        /// The file.
        path: PathBuf,
        /// The checksum that it should have.
        wanted: &'static str,
        /// The checksum that it has.
        found: String,
    },
    /// A program that the build needs is missing.
    #[error(
        "no compiler: `{program}` is not on this machine; building a kernel needs \
         gcc, make, flex, bison, bc and the headers of libelf \
         (apt-get install gcc make flex bison bc libelf-dev)"
    )]
    NoCompiler {
        /// The name of the program.
        program: String,
    },
    /// Another program that is needed is missing.
    #[error("`{program}` is not on this machine; it comes with {package}")]
    NoProgram {
        /// The name of the program.
        program: String,
        /// The Debian package with the program.
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
        /// The requested version.
        version: KernelVersion,
        /// The difference, such as another version.
        detail: String,
    },
    /// The resulting configuration lacks an option or has an unwanted one.
    #[error("the kernel cannot be configured: {fault}, see {config}")]
    Configuration {
        /// The option, and what is wrong with it.
        fault: String,
        /// The configuration file.
        config: PathBuf,
    },
    /// A command failed.
    #[error("the kernel does not build: {command} failed, see {log}; it ended with\n{tail}")]
    Build {
        /// The command.
        command: String,
        /// The file with all its output.
        log: PathBuf,
        /// The last lines of its output.
        tail: String,
    },
    /// The environment names no folder for the cache.
    #[error("there is no place to keep kernels: set FREEHOLD_CACHE, XDG_CACHE_HOME or HOME")]
    NoCache,
    /// A file cannot be read or written.
    #[error("{path}: {error}")]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        #[source]
        error: io::Error,
    },
}

impl KernelError {
    /// Returns a function for `map_err` that adds the file's name.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |error| Self::File { path, error }
    }
}

/// The most lines of a console in an error.
pub(crate) const CONSOLE_LINES: usize = 20;

/// Returns the last `lines` lines of `text` that are not blank, indented.
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
    fn tail_has_the_last_lines_that_are_not_blank() {
        assert_eq!(tail("a\n\nb  \nc\n\n", 2), "    b\n    c");
        assert_eq!(tail("\n", 2), "    (nothing)");
    }

    #[test]
    fn messages_have_the_cause_and_a_remedy() {
        let package = KernelError::NoPackage { package: "linux-source-7.3".into(), detail: "offline".into() };
        assert_eq!(
            package.to_string(),
            "linux-source-7.3 cannot be fetched (offline); \
             give the folder of an unpacked kernel source with --source DIR"
        );
        let compiler = KernelError::NoCompiler { program: "bison".into() }.to_string();
        assert!(compiler.starts_with("no compiler: `bison` is not on this machine"), "{compiler}");
        assert!(compiler.contains("apt-get install"), "{compiler}");
    }
}
