//! Errors of reading and recording a live Linux, and what to do about each.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::bpf::BpfError;
use super::perf_data::PerfDataError;

/// The error of a sink.
pub type SinkError = Box<dyn std::error::Error + Send + Sync>;

/// Why reading or recording a live Linux, or reading a file from one, failed.
///
/// Every message says what is missing or wrong and what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The kernel allows only root to read this.
    #[error("{path} {}", who_may(path))]
    NotRoot {
        /// The file or folder.
        path: PathBuf,
    },
    /// The kernel has no tracefs.
    #[error(
        "this kernel offers no tracefs ({detail}), so nothing can be recorded here. Snapshots and the \
         import of ftrace, trace-cmd and perf texts still work. Boot a kernel with CONFIG_FTRACE=y and \
         CONFIG_EVENT_TRACING=y"
    )]
    NoTracefs {
        /// How the attempt to mount it ended.
        detail: String,
    },
    /// The kernel lacks a trace event of the page allocator that a recording needs.
    #[error(
        "the trace event kmem:{event} is missing ({path}), so nothing can be recorded here. Snapshots and \
         the import of ftrace, trace-cmd and perf texts still work. Boot a kernel with CONFIG_EVENT_TRACING=y"
    )]
    NoKmemEvents {
        /// The path that is missing.
        path: PathBuf,
        /// The event's name.
        event: &'static str,
    },
    /// The kernel lacks `/proc/kpageflags`.
    #[error(
        "{path} is missing, so nothing is known of single pageblocks. It takes a kernel with \
         CONFIG_PROC_PAGE_MONITOR, and in a copy of a machine's files the file itself; `freehold record` works \
         without it by `--no-occupancy`"
    )]
    NoKpageflags {
        /// The path that is missing.
        path: PathBuf,
    },
    /// Free blocks could not be read by BPF.
    #[error(transparent)]
    Bpf(#[from] BpfError),
    /// The kernel could not allocate the ring buffers.
    #[error(
        "the kernel refused ring buffers of {kib_per_cpu} KiB a CPU: {source}. Ask for less with `--buffer`"
    )]
    Buffer {
        /// The requested size for each CPU.
        kib_per_cpu: u64,
        /// The kernel's answer.
        source: io::Error,
    },
    /// A file could not be read or written.
    #[error("cannot {action} {path}: {source}. {remedy}")]
    Io {
        /// The action: `read`, `write` or `create`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
        /// What the user can do.
        remedy: &'static str,
    },
    /// The contents of a file do not parse.
    #[error("{file}:{at}. {remedy}", file = file.display())]
    Malformed {
        /// The file.
        file: PathBuf,
        /// The line, what was expected, and what was found.
        at: ParseError,
        /// What the user can do.
        remedy: &'static str,
    },
    /// The events of a text go too far back in time.
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
        /// How far the event goes back.
        back_ns: u64,
        /// How far it may go back.
        window_ns: u64,
    },
    /// A text contains no page events.
    #[error(
        "{file}: no page events in {lines} lines. Check that it is the text of ftrace, `trace-cmd report` or \
         `perf script`, recorded with the events of kmem (`trace-cmd record -e kmem`)",
        file = file.display()
    )]
    NoEvents {
        /// The text.
        file: PathBuf,
        /// The number of its lines.
        lines: u64,
    },
    /// An event is about frames outside the machine's zones.
    #[error(
        "{recorded}: the event at {seconds}.{nanos:09} s is about a block of {pages} pages at pfn {pfn:#x}, which is \
         not inside any zone of {zoneinfo}. Take the zoneinfo of the machine and the boot that it was recorded \
         on, and name the spelling of a text's frame numbers with `--pfn-radix` if it is misread",
        recorded = recorded.display(), zoneinfo = zoneinfo.display(),
        seconds = time_ns / 1_000_000_000, nanos = time_ns % 1_000_000_000
    )]
    OutsideZones {
        /// The text, or the file of perf.
        recorded: PathBuf,
        /// The file that describes the zones.
        zoneinfo: PathBuf,
        /// The time of the event.
        time_ns: u64,
        /// First frame of the block.
        pfn: u64,
        /// Its pages.
        pages: u64,
    },
    /// A compressed text could not be decompressed.
    #[error(
        "{file} cannot be unpacked as {format}: {source}. Check the file with `{format} --test` and copy it \
         again if it is damaged",
        file = file.display()
    )]
    Archive {
        /// The file.
        file: PathBuf,
        /// `gzip`, `xz` or `zstd`.
        format: &'static str,
        /// The decompressor's answer.
        source: io::Error,
    },
    /// A file of `perf record` cannot be imported.
    #[error("{file}: {source}", file = file.display())]
    PerfData {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        source: PerfDataError,
    },
    /// A ring-buffer page does not have the layout that the kernel describes.
    #[error(
        "the ring buffer of CPU {cpu} holds a page that cannot be read: {detail}. Record as text instead \
         (`trace-cmd record -e kmem`, `trace-cmd report`) and import that"
    )]
    RingBuffer {
        /// The CPU of the ring buffer.
        cpu: u32,
        /// What is wrong with the page.
        detail: String,
    },
    /// The command to record could not be started.
    #[error("cannot start `{command}`: {source}. Check its name, its path and its permissions")]
    Command {
        /// The program.
        command: String,
        /// The system's answer.
        source: io::Error,
    },
    /// A measurement ended before its last recording.
    #[error(
        "the measurement was stopped before its last recording, so there is none. Let every run of the command \
         end, or leave out `--measure-effect`"
    )]
    StoppedEarly,
    /// The sink failed.
    #[error("the trace could not be written")]
    Sink(#[source] SinkError),
}

impl Error {
    /// Returns the error of `action` on `path`, with variants of their own for the most frequent
    /// causes.
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        let remedy = match source.kind() {
            io::ErrorKind::PermissionDenied if is_the_kernels(path) => {
                return Self::NotRoot { path: path.to_owned() };
            }
            io::ErrorKind::PermissionDenied => "Make it readable, or run the same command as its owner",
            io::ErrorKind::IsADirectory => "Name a file in it",
            io::ErrorKind::NotFound if is_the_kernels(path) => {
                "Check the path, and that the kernel has what it names"
            }
            io::ErrorKind::NotFound => "Check the path",
            io::ErrorKind::StorageFull => "Make room on the device",
            _ => "Check that the file is of the expected kind",
        };
        Self::Io { action, path: path.to_owned(), source, remedy }
    }
}

impl Error {
    /// Returns true if the file is missing or this process may not read it, so that another attempt
    /// is useless.
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

/// Returns who may read a file, and what a user without these rights can still do.
fn who_may(path: &Path) -> &'static str {
    if rustix::process::geteuid().is_root() {
        "cannot be read even by root: a container, a missing capability or a security module forbids it. Run the same \
         command outside of the container"
    } else if path.starts_with("/sys/kernel") {
        "is open to root only. Without root, texts of ftrace, trace-cmd and perf can still be imported. Run the same \
         command as root to reach it"
    } else {
        "is open to root only. Run the same command as root to reach it"
    }
}

/// Returns true if the file is in `/proc` or `/sys`, so that its contents come from the kernel.
fn is_the_kernels(path: &Path) -> bool {
    ["/proc", "/sys"].iter().any(|root| path.starts_with(root))
}

/// What was expected in a line, and what was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// The line, from 1; 0 for the whole file.
    pub line: u64,
    /// The expectation.
    pub expected: String,
    /// The text in its place.
    pub found: String,
}

/// The most characters of a line that an error message quotes.
const QUOTED_CHARS: usize = 160;

impl ParseError {
    /// Makes an error on `line`. It quotes the start of `found` without control characters.
    pub(crate) fn new(line: u64, expected: impl Into<String>, found: &str) -> Self {
        let shown = |c: char| if c.is_control() && c != '\t' { char::REPLACEMENT_CHARACTER } else { c };
        let mut quoted: String = found.trim().chars().take(QUOTED_CHARS).map(shown).collect();
        if found.trim().chars().nth(QUOTED_CHARS).is_some() {
            quoted.push('…');
        }
        Self { line, expected: expected.into(), found: quoted }
    }

    /// Adds the name of the file.
    pub(crate) fn in_file(self, file: &Path, remedy: &'static str) -> Error {
        Error::Malformed { file: file.to_owned(), at: self, remedy }
    }
}

impl PerfDataError {
    /// Adds the name of the file.
    pub(crate) fn in_file(self, file: &Path) -> Error {
        Error::PerfData { file: file.to_owned(), source: self }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected {}, found \"{}\"", self.line, self.expected, self.found)
    }
}

impl std::error::Error for ParseError {}
