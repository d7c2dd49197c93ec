//! Why a guest cannot be had, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

/// The result of what is done with guests.
pub type VmResult<T> = Result<T, VmError>;

/// Why something with a guest failed.
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
    /// A file does not fit into the root's format.
    #[error("{path} has 4 GiB or more, which an initramfs cannot hold; put it on a disk")]
    TooLarge {
        /// The path in the guest.
        path: String,
    },
    /// The guest did not say something in time.
    #[error("the guest did not say {awaited} within {seconds} s; its console ended with\n{tail}")]
    Silent {
        /// What was awaited.
        awaited: String,
        /// The seconds.
        seconds: f64,
        /// The console's last lines.
        tail: String,
    },
    /// The guest ended before it said or did what was expected.
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
        /// Its answer.
        said: String,
    },
    /// The machine cannot be saved.
    #[error("this machine cannot be saved: {reason}")]
    Unsavable {
        /// What stands against it, and what to use instead.
        reason: &'static str,
    },
    /// The files of a state are not those that were saved.
    #[error("the saved state {folder} is damaged ({detail}); delete it, boot the guest and save it again")]
    Damaged {
        /// The folder of the state.
        folder: PathBuf,
        /// The file, and what is wrong with it.
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
        /// What only the saved machine has.
        saved: String,
        /// What only the requested machine has.
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
