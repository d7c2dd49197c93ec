//! What can go wrong on a live Linux, and what to do about it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::bpf::BpfError;

/// What the sinks of this crate may fail with.
pub type SinkError = Box<dyn std::error::Error + Send + Sync>;

/// Why something on a live Linux, or in a file from one, could not be read.
///
/// Every message says what is missing or wrong and what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The kernel keeps this from everybody but root.
    #[error("{path} is open to root only. {}Run the same command as root to reach it", what_is_left(path))]
    NotRoot {
        /// The file or folder that was refused.
        path: PathBuf,
    },
    /// The kernel has no tracefs.
    #[error(
        "this kernel offers no tracefs ({detail}), so nothing can be recorded here. Snapshots and the \
         import of ftrace, trace-cmd and perf texts still work. Boot a kernel with CONFIG_FTRACE=y and \
         CONFIG_EVENT_TRACING=y"
    )]
    NoTracefs {
        /// What the attempt to reach it ended with.
        detail: String,
    },
    /// The kernel lacks one of the page allocator's trace events.
    #[error(
        "the trace event kmem:{event} is missing ({path}), so nothing can be recorded here. Snapshots and \
         the import of ftrace, trace-cmd and perf texts still work. Boot a kernel with CONFIG_EVENT_TRACING=y"
    )]
    NoKmemEvents {
        /// Where it was looked for.
        path: PathBuf,
        /// The event.
        event: &'static str,
    },
    /// The kernel does not say what frames are used for.
    #[error(
        "{path} is missing, so nothing is known of single pageblocks. It takes a kernel with \
         CONFIG_PROC_PAGE_MONITOR, and in a copy of a machine's files the file itself; `freehold record` works \
         without it by `--no-occupancy`"
    )]
    NoKpageflags {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// Free blocks could not be read by BPF.
    #[error(transparent)]
    Bpf(#[from] BpfError),
    /// The kernel could not set aside the ring buffers.
    #[error(
        "the kernel refused ring buffers of {kib_per_cpu} KiB a CPU: {source}. Ask for less with `--buffer`"
    )]
    Buffer {
        /// What was asked for.
        kib_per_cpu: u64,
        /// What the kernel answered.
        source: io::Error,
    },
    /// A file could not be read or written.
    #[error("cannot {action} {path}: {source}. {remedy}")]
    Io {
        /// What was tried: `read`, `write`, `create`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
        /// What to do.
        remedy: &'static str,
    },
    /// A file's contents are not what they should be.
    #[error("{file}:{at}. {remedy}", file = file.display())]
    Malformed {
        /// The file.
        file: PathBuf,
        /// The line, and what was expected and found there.
        at: ParseError,
        /// What to do.
        remedy: &'static str,
    },
    /// The events of a text are not in the order of time.
    #[error(
        "{file}:{line}: time goes back by {back_ns} ns, more than the {window_ns} ns that are put in order. \
         Sort the text by time first, or write it with `trace-cmd report` or `perf script`, which do",
        file = file.display()
    )]
    TimeBackwards {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: u64,
        /// How far it goes back.
        back_ns: u64,
        /// How far it may.
        window_ns: u64,
    },
    /// A text has nothing to import.
    #[error(
        "{file}: no page events in {lines} lines. Check that it is the text of ftrace, `trace-cmd report` or \
         `perf script`, recorded with the events of kmem (`trace-cmd record -e kmem`)",
        file = file.display()
    )]
    NoEvents {
        /// The text.
        file: PathBuf,
        /// Its lines.
        lines: u64,
    },
    /// An event is about frames that the machine does not have.
    #[error(
        "{text}: the event at {seconds}.{nanos:09} s is about a block of {pages} pages at pfn {pfn:#x}, which is \
         not inside any zone of {zoneinfo}. Take the zoneinfo of the machine and the boot that the text comes \
         from, and name the spelling of its frame numbers with `--pfn-radix` if it is misread",
        text = text.display(), zoneinfo = zoneinfo.display(),
        seconds = time_ns / 1_000_000_000, nanos = time_ns % 1_000_000_000
    )]
    OutsideZones {
        /// The text.
        text: PathBuf,
        /// What tells the zones.
        zoneinfo: PathBuf,
        /// When it happened.
        time_ns: u64,
        /// First frame of the block.
        pfn: u64,
        /// Its pages.
        pages: u64,
    },
    /// A compressed text could not be unpacked.
    #[error(
        "{file} cannot be unpacked as {format}: {source}. Check the file with `{format} --test` and copy it \
         again if it is damaged",
        file = file.display()
    )]
    Archive {
        /// The file.
        file: PathBuf,
        /// `xz` or `zstd`.
        format: &'static str,
        /// What the unpacker answered.
        source: io::Error,
    },
    /// A ring-buffer page does not have the layout that the kernel announces.
    #[error(
        "the ring buffer of CPU {cpu} holds a page that cannot be read: {detail}. Record as text instead \
         (`trace-cmd record -e kmem`, `trace-cmd report`) and import that"
    )]
    RingBuffer {
        /// Which CPU.
        cpu: u32,
        /// What was wrong with it.
        detail: String,
    },
    /// The command to be recorded could not be started.
    #[error("cannot start `{command}`: {source}. Check its name, its path and its permissions")]
    Command {
        /// The program.
        command: String,
        /// What the system answered.
        source: io::Error,
    },
    /// A measurement ended before its last recording.
    #[error(
        "the measurement was stopped before its last recording, so there is none. Let every run of the command \
         end, or leave out `--measure-effect`"
    )]
    StoppedEarly,
    /// The receiver of the events failed.
    #[error("the trace could not be written")]
    Sink(#[source] SinkError),
}

impl Error {
    /// An error for `action` on `path`, with the commonest causes told apart.
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        let remedy = match source.kind() {
            io::ErrorKind::PermissionDenied if is_the_kernels(path) => {
                return Self::NotRoot { path: path.to_owned() };
            }
            io::ErrorKind::PermissionDenied => "Make it readable, or run the same command as its owner",
            io::ErrorKind::IsADirectory => "Name a file in it",
            io::ErrorKind::NotFound => "Check the path, and that the kernel has what it names",
            io::ErrorKind::StorageFull => "Make room on the device",
            _ => "Check that the file is of the kind that was asked for",
        };
        Self::Io { action, path: path.to_owned(), source, remedy }
    }
}

impl Error {
    /// Returns true if the file is missing or closed to this process: to try again is of no use.
    pub(crate) fn is_closed_or_missing(&self) -> bool {
        match self {
            Self::NotRoot { .. } | Self::NoKpageflags { .. } => true,
            Self::Io { source, .. } => {
                matches!(source.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied)
            }
            _ => false,
        }
    }
}

/// What can be done without a file that is open to root only.
fn what_is_left(path: &Path) -> &'static str {
    if path.starts_with("/sys/kernel") || path.ends_with("proc/pagetypeinfo") {
        "Without root, texts of ftrace, trace-cmd and perf can still be imported, and free blocks read without \
         their types. "
    } else {
        ""
    }
}

/// Returns true if the kernel makes this file up.
fn is_the_kernels(path: &Path) -> bool {
    ["/proc", "/sys"].iter().any(|root| path.starts_with(root))
}

/// What was expected on a line, and what was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// The line, from 1; 0 where the file as a whole is meant.
    pub line: u64,
    /// What should have been there.
    pub expected: String,
    /// What was there.
    pub found: String,
}

/// How much of a line an error message quotes.
const QUOTED_CHARS: usize = 160;

impl ParseError {
    /// An error on `line`. It quotes the first characters of `found`, without those that would steer a terminal.
    pub(crate) fn new(line: u64, expected: impl Into<String>, found: &str) -> Self {
        let shown = |c: char| if c.is_control() && c != '\t' { char::REPLACEMENT_CHARACTER } else { c };
        let mut quoted: String = found.trim().chars().take(QUOTED_CHARS).map(shown).collect();
        if found.trim().chars().nth(QUOTED_CHARS).is_some() {
            quoted.push('…');
        }
        Self { line, expected: expected.into(), found: quoted }
    }

    /// The same, with the file in which it happened.
    pub(crate) fn in_file(self, file: &Path, remedy: &'static str) -> Error {
        Error::Malformed { file: file.to_owned(), at: self, remedy }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected {}, found \"{}\"", self.line, self.expected, self.found)
    }
}

impl std::error::Error for ParseError {}
