//! The errors of this crate, with their remedies.

use std::io;
use std::path::{Path, PathBuf};

/// The result of an operation on a guest.
pub type VmResult<T> = Result<T, VmError>;

/// The reason why an operation on a guest failed.
#[derive(Debug, thiserror::Error)]
pub enum VmError {
    /// A program or a firmware is missing.
    #[error("`{program}` is not on this machine; it comes with {package} (apt-get install {package})")]
    NoProgram {
        /// The name of the program, or the path of the firmware.
        program: String,
        /// The Debian package with it.
        package: &'static str,
    },
    /// A file cannot be read or written.
    #[error("{path}: {error}")]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        #[source]
        error: io::Error,
    },
    /// A file is too large for the format of the root.
    #[error("{path} has 4 GiB or more, which an initramfs cannot hold; put it on a disk")]
    TooLarge {
        /// The path in the guest.
        path: String,
    },
    /// The guest did not print an expected text in time.
    #[error("the guest did not say {awaited} within {seconds} s; its console ended with\n{tail}")]
    Silent {
        /// The expected text.
        awaited: String,
        /// The time limit in seconds.
        seconds: f64,
        /// The console's last lines.
        tail: String,
    },
    /// The guest ended too early.
    #[error("the guest has ended; its console ended with\n{tail}\nand QEMU said\n{complaint}")]
    Ended {
        /// The console's last lines.
        tail: String,
        /// The last lines of QEMU's standard error.
        complaint: String,
    },
    /// QEMU refused a command.
    #[error("QEMU refused {command}: {said}")]
    Refused {
        /// The command of QEMU's monitor.
        command: String,
        /// QEMU's reply.
        said: String,
    },
    /// The machine cannot be saved.
    #[error("this machine cannot be saved: {reason}")]
    Unsavable {
        /// The obstacle, and the alternative.
        reason: &'static str,
    },
    /// The files of a saved state have changed.
    #[error("the saved state {folder} is damaged ({detail}); delete it, boot the guest and save it again")]
    Damaged {
        /// The folder of the state.
        folder: PathBuf,
        /// The file and its fault.
        detail: String,
    },
    /// A state belongs to another machine.
    #[error(
        "the saved state {folder} is of another machine: it has `{saved}`, and `{requested}` was requested; \
         resume it on the machine that it was saved on, or boot this machine and save it again"
    )]
    OtherMachine {
        /// The folder of the state.
        folder: PathBuf,
        /// The arguments that only the saved machine has.
        saved: String,
        /// The arguments that only the requested machine has.
        requested: String,
    },
}

impl VmError {
    /// Returns a function for `map_err` that adds the file's name.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |error| Self::File { path, error }
    }
}

/// The most lines of a console in an error.
const LINES: usize = 20;

/// Returns the last lines of a text that are not blank, indented.
pub(crate) fn tail(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(LINES)..];
    if last.is_empty() {
        return "    (nothing)".to_owned();
    }
    last.iter().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}
