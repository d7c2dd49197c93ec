//! The journal of a sweep: every finished run is a line in a file beside the output.
//!
//! The first line has the arguments, each other line a finished run: a checksum, a blank, JSON. The checksum of a
//! run covers the first line's JSON too, so that a run proves whose it is even where the first line is damaged.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use crc32fast::Hasher;
use freehold_lab::sweep::SweepRow;
use serde::{Deserialize, Serialize};

use crate::exit::{Cause, Failure};
use crate::output;

/// The first line of a journal: the version and the arguments of the sweep. Only a sweep with the same
/// line may continue.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct SweepArguments {
    pub(super) freehold: String,
    pub(in crate::commands) partial: bool,
    pub(in crate::commands) replicates: u32,
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
    /// The arguments, as in the first line.
    arguments: Vec<u8>,
    /// Finished runs, in the order in which they finished.
    pub(super) rows: Vec<SweepRow>,
}

impl Journal {
    /// Opens the journal beside `output`. Continues a journal of the same arguments, without its last
    /// line if that is incomplete, and without damaged lines, which it names; otherwise starts a new one.
    pub(super) fn open(output: &Path, arguments: &SweepArguments, restart: bool) -> Result<Self, Failure> {
        let mut name = output.file_name().unwrap_or_default().to_owned();
        name.push(".journal");
        let path = output.with_file_name(name);
        let mut file = lock(&path)?;
        if restart && file.metadata().is_ok_and(|it| it.len() > 0) {
            // Whatever it was: its name goes, and nothing is written over.
            fs::remove_file(&path).map_err(|error| output::cannot_create(&path, error))?;
            file = lock(&path)?;
        }
        let arguments_line =
            serde_json::to_vec(arguments).map_err(|error| Failure::new(Cause::Bug, error))?;
        let mut journal = Self { file, path, arguments: arguments_line, rows: Vec::new() };
        let mut text = Vec::new();
        journal.file.read_to_end(&mut text).map_err(|error| journal.unreadable(&error.to_string()))?;
        let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let first = line(&[], &journal.arguments);
        if whole > 0 {
            journal.read(&text[..whole], arguments)?;
        } else if !first.starts_with(&text) {
            return Err(journal.unreadable("its first line is something else"));
        }
        journal.cut(whole as u64)?;
        if whole == 0 {
            journal.append_line(&first)?;
            output::sync_folder_of(&journal.path).map_err(|error| journal.unwritable(error))?;
        }
        Ok(journal)
    }

    /// Takes the runs of whole lines. Fails if they are not known to be of this sweep.
    fn read(&mut self, text: &[u8], arguments: &SweepArguments) -> Result<(), Failure> {
        let mut damaged = Vec::new();
        for (number, line) in
            (1..).zip(text.split(|&byte| byte == b'\n')).filter(|(_, line)| !line.is_empty())
        {
            let covered: &[u8] = if number == 1 { &[] } else { &self.arguments };
            let Some(json) = checked(covered, line) else {
                damaged.push(number);
                continue;
            };
            if number == 1 {
                let found: SweepArguments =
                    serde_json::from_slice(json).map_err(|error| self.unreadable(&error.to_string()))?;
                if found != *arguments {
                    return Err(self.of_another_sweep());
                }
            } else {
                let row =
                    serde_json::from_slice(json).map_err(|error| self.unreadable(&error.to_string()))?;
                self.rows.push(row);
            }
        }
        if damaged.first() == Some(&1) && self.rows.is_empty() {
            return Err(self.unreadable("its first line is damaged, or something else"));
        }
        for number in damaged {
            let path = self.path.display();
            output::note(&format!(
                "freehold: {path}: line {number} is damaged and left out; what is missing is run again"
            ));
        }
        Ok(())
    }

    /// Appends a finished run. The run is on the device when this returns.
    pub(super) fn append(&mut self, row: SweepRow) -> Result<(), Failure> {
        let json = serde_json::to_vec(&row).map_err(|error| Failure::new(Cause::Bug, error))?;
        self.append_line(&line(&self.arguments, &json))?;
        self.rows.push(row);
        Ok(())
    }

    /// Removes the journal after its rows were written elsewhere.
    pub(super) fn remove(self) -> Result<(), Failure> {
        fs::remove_file(&self.path).map_err(|error| self.unwritable(error))
    }

    fn append_line(&mut self, line: &[u8]) -> Result<(), Failure> {
        let end = self.file.stream_position().unwrap_or(0);
        let written = self.file.write_all(line).and_then(|()| self.file.sync_data());
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
                "make room on the device and start the same sweep again to continue"
            }
            _ => "start the same sweep again to continue",
        };
        let what = format!("{} cannot be written; {remedy}", self.path.display());
        Failure::new(Cause::Output, anyhow::Error::new(error).context(what))
    }

    fn unreadable(&self, why: &str) -> Failure {
        let path = self.path.display();
        let what = anyhow!(
            "{path} is not a journal of a sweep: {why}; start anew with --restart, which replaces it"
        );
        Failure::new(Cause::Data, what)
    }

    fn of_another_sweep(&self) -> Failure {
        let what = anyhow!(
            "{} is of a sweep with other traces, settings or another version of Freehold; give the same arguments \
             to go on, --restart to throw its runs away, or name another --output",
            self.path.display()
        );
        Failure::new(Cause::Usage, what)
    }
}

/// Returns a line: the checksum of `covered` and `json`, and `json`.
fn line(covered: &[u8], json: &[u8]) -> Vec<u8> {
    let mut line = format!("{:08x} ", checksum(covered, json)).into_bytes();
    line.extend_from_slice(json);
    line.push(b'\n');
    line
}

/// Returns the JSON of a line if its checksum is right.
fn checked<'l>(covered: &[u8], line: &'l [u8]) -> Option<&'l [u8]> {
    let (sum, json) = line.split_at_checked(9)?;
    let sum = u32::from_str_radix(str::from_utf8(sum).ok()?.strip_suffix(' ')?, 16).ok()?;
    (sum == checksum(covered, json)).then_some(json)
}

fn checksum(covered: &[u8], json: &[u8]) -> u32 {
    let mut hasher = Hasher::new();
    hasher.update(covered);
    hasher.update(json);
    hasher.finalize()
}

/// Opens and locks the file at `path`.
fn lock(path: &Path) -> Result<File, Failure> {
    output::open_locked(path)?.ok_or_else(|| {
        let path = path.display();
        let what = anyhow!("another sweep works on {path}; wait for it, or name another --output");
        Failure::new(Cause::Usage, what)
    })
}
