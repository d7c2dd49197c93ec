//! The journal of a sweep: every finished run is a line in a file beside the output.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use freehold_lab::sweep::SweepRow;
use serde::{Deserialize, Serialize};

use crate::exit::{Cause, Failure};
use crate::output::cannot_create;

/// The first line of a journal: the version and the arguments of the sweep. Only a sweep with the same
/// line may continue.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Asked {
    pub(super) freehold: String,
    pub(in crate::commands) partial: bool,
    pub(in crate::commands) chance: u32,
    pub(in crate::commands) traces: Vec<TraceFile>,
    pub(in crate::commands) vary: Vec<(String, Vec<freehold_lab::sweep::Value>)>,
}

/// A trace, with its size and time, which tell it from another file of the same name.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct TraceFile {
    pub(super) name: String,
    bytes: u64,
    modified_ns: i128,
}

impl TraceFile {
    /// Describes the trace at `path`. If the file cannot be examined, size and time are unknown; the
    /// error comes when the trace is read.
    pub(super) fn new(path: &Path) -> Self {
        let found = fs::metadata(path).ok();
        let modified =
            |it: &fs::Metadata| i128::from(it.mtime()) * 1_000_000_000 + i128::from(it.mtime_nsec());
        Self {
            name: path.display().to_string(),
            bytes: found.as_ref().map_or(0, fs::Metadata::len),
            modified_ns: found.as_ref().map_or(0, modified),
        }
    }
}

/// The journal of a sweep. The file is locked while it is open, also against other processes; the kernel
/// unlocks it if this process is killed.
pub(super) struct Journal {
    file: File,
    path: PathBuf,
    /// Finished runs, in the order in which they finished.
    pub(super) rows: Vec<SweepRow>,
}

impl Journal {
    /// Opens the journal beside `output`. Continues a journal of the same arguments, without its last
    /// line if that is incomplete; otherwise starts a new one.
    pub(super) fn open(output: &Path, asked: &Asked, restart: bool) -> Result<Self, Failure> {
        let mut name = output.file_name().unwrap_or_default().to_owned();
        name.push(".journal");
        let path = output.with_file_name(name);
        let file = lock(&path)?;
        let mut journal = Self { file, path, rows: Vec::new() };
        let mut text = Vec::new();
        if !restart {
            journal.file.read_to_end(&mut text).map_err(|error| journal.unreadable(&error.to_string()))?;
        }
        let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let mut lines = text[..whole].split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        if let Some(first) = lines.next() {
            let found: Asked =
                serde_json::from_slice(first).map_err(|error| journal.unreadable(&error.to_string()))?;
            if found != *asked {
                return Err(journal.of_another_sweep());
            }
            for line in lines {
                let row =
                    serde_json::from_slice(line).map_err(|error| journal.unreadable(&error.to_string()))?;
                journal.rows.push(row);
            }
        }
        journal.cut(whole as u64)?;
        if whole == 0 {
            journal.append_line(asked)?;
        }
        Ok(journal)
    }

    /// Appends a finished run. The run is on the device when this returns.
    pub(super) fn append(&mut self, row: SweepRow) -> Result<(), Failure> {
        self.append_line(&row)?;
        self.rows.push(row);
        Ok(())
    }

    /// Removes the journal after its rows were written elsewhere.
    pub(super) fn remove(self) -> Result<(), Failure> {
        fs::remove_file(&self.path).map_err(|error| self.unwritable(error))
    }

    fn append_line(&mut self, line: &impl Serialize) -> Result<(), Failure> {
        let mut text = serde_json::to_vec(line).map_err(|error| Failure::new(Cause::Bug, error))?;
        text.push(b'\n');
        let end = self.file.stream_position().unwrap_or(0);
        let written = self.file.write_all(&text).and_then(|()| self.file.sync_data());
        written.map_err(|error| {
            // If the incomplete line cannot be cut off now, the next reader drops it.
            let _ = self.cut(end);
            self.unwritable(error)
        })
    }

    fn cut(&mut self, end: u64) -> Result<(), Failure> {
        let cut = self.file.set_len(end).and_then(|()| self.file.seek(SeekFrom::Start(end)));
        cut.map(|_| ()).map_err(|error| self.unwritable(error))
    }

    fn unwritable(&self, error: io::Error) -> Failure {
        let remedy = match error.kind() {
            io::ErrorKind::StorageFull => {
                "make room on the device and start the same sweep again: it goes on"
            }
            _ => "start the same sweep again: it goes on",
        };
        let what = format!("{} cannot be written; {remedy}", self.path.display());
        Failure::new(Cause::Output, anyhow::Error::new(error).context(what))
    }

    fn unreadable(&self, why: &str) -> Failure {
        let path = self.path.display();
        let what =
            anyhow!("{path} is no journal of a sweep: {why}; start anew with --restart, which replaces it");
        Failure::new(Cause::Input, what)
    }

    fn of_another_sweep(&self) -> Failure {
        let what = anyhow!(
            "{} is of a sweep with other traces, settings or another version of Freehold; give the same arguments \
             to go on, --restart to throw its runs away, or name another --output",
            self.path.display()
        );
        Failure::new(Cause::Input, what)
    }
}

/// Opens and locks the file at `path`. Tries again if another sweep removes the file in between.
fn lock(path: &Path) -> Result<File, Failure> {
    loop {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let file = file.map_err(|error| cannot_create(path, error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let path = path.display();
                let what = anyhow!("another sweep works on {path}; wait for it, or name another --output");
                return Err(Failure::new(Cause::Input, what));
            }
            Err(TryLockError::Error(error)) => return Err(cannot_create(path, error)),
        }
        let same =
            |there: fs::Metadata, own: fs::Metadata| (there.dev(), there.ino()) == (own.dev(), own.ino());
        if fs::metadata(path).ok().zip(file.metadata().ok()).is_some_and(|(there, own)| same(there, own)) {
            return Ok(file);
        }
    }
}
