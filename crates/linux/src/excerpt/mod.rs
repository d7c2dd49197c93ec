//! A machine's files inside one file: a bug report, an archive of a support tool, or a text that a person pasted.
//!
//! `text.rs` finds the parts of a text by their headings and by their form, `archive.rs` those of a tar archive by their paths.

mod archive;
mod part;
mod text;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::ftrace_text::{open_packed, unpack};
use crate::procfs::refuse_special;

use part::{LOGS, is_log_or_packed};

/// The files that a single text may be.
const FREE_MEMORY: [&str; 3] = ["proc/buddyinfo", "proc/pagetypeinfo", "proc/zoneinfo"];

/// The most bytes that are read of a file, unpacked.
const MAX_BYTES: u64 = 2 << 30;

/// The bytes at the start of a file that tell of what kind it is.
const START_BYTES: u64 = 512;

/// The machine's files that one file contains.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Excerpt {
    parts: BTreeMap<&'static str, String>,
}

impl Excerpt {
    /// Reads the parts of a text or of a tar archive, either of them also compressed by gzip, xz or zstd.
    ///
    /// # Errors
    /// If the file cannot be read or unpacked.
    pub fn read(path: &Path) -> Result<Self, Error> {
        refuse_special(path)?;
        let file = unpack(path, open_packed(path)?)?;
        let failed = |error| Error::io("read", path, error);
        let mut start = Vec::new();
        let mut file = file.take(MAX_BYTES);
        file.by_ref().take(START_BYTES).read_to_end(&mut start).map_err(failed)?;
        let is_archive = archive::is_header(&start);
        let mut whole = io::BufReader::new(io::Cursor::new(start).chain(file));
        let parts = if is_archive { archive::parts(&mut whole) } else { text::parts(&mut whole) };
        Ok(Self { parts: parts.map_err(failed)? })
    }

    /// Returns the paths of the parts.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.parts.keys().copied()
    }

    /// Returns true if the file says anything about free memory.
    pub fn has_free_memory(&self) -> bool {
        self.names().any(|name| FREE_MEMORY.contains(&name))
    }

    /// Writes the parts below a folder, as the files of a machine.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write_below(&self, root: &Path) -> io::Result<()> {
        for (name, text) in &self.parts {
            let path = root.join(name);
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::write(path, text)?;
        }
        Ok(())
    }
}

/// Opens the kernel log that a path names: of a tar archive or of a folder all logs one after the other, otherwise the text. All of
/// it may be compressed by gzip, xz or zstd, and so may single logs of a folder, but not those of an archive.
///
/// # Errors
/// If the file or the folder cannot be read.
pub fn open_log(path: &Path) -> Result<Box<dyn BufRead>, Error> {
    let failed = |error| Error::io("read", path, error);
    if path.is_dir() {
        let mut logs = Vec::new();
        find_logs(path, 0, &mut logs).map_err(failed)?;
        if logs.is_empty() {
            let what = format!("it has no kernel log, such as {}", LOGS.join(", "));
            return Err(failed(io::Error::new(io::ErrorKind::IsADirectory, what)));
        }
        logs.sort();
        return Ok(Box::new(io::BufReader::new(Logs { left: logs.into_iter(), now: Box::new(io::empty()) })));
    }
    let mut text = unpack(path, open_packed(path)?)?;
    let is_archive = archive::is_header(text.fill_buf().map_err(failed)?);
    Ok(if is_archive { Box::new(io::BufReader::new(archive::ArchivedLogs::new(text))) } else { text })
}

/// The logs of a folder, one after the other. One that goes meanwhile is left out.
struct Logs {
    left: std::vec::IntoIter<PathBuf>,
    now: Box<dyn BufRead>,
}

impl Read for Logs {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.now.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let Some(path) = self.left.next() else { return Ok(0) };
            if let Ok(file) = open_packed(&path) {
                self.now = unpack(&path, file).map_err(io::Error::other)?;
            }
        }
    }
}

/// The most folders in folders, and the most logs, that are looked through.
const MOST_DEPTH: u32 = 8;
const MOST_LOGS: usize = 256;

/// Adds the paths of the logs below a folder.
fn find_logs(folder: &Path, depth: u32, logs: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let (path, kind) = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))?;
        if kind.is_dir() && depth < MOST_DEPTH {
            find_logs(&path, depth + 1, logs)?;
        } else if kind.is_file() && logs.len() < MOST_LOGS && is_log_or_packed(&path.to_string_lossy()) {
            logs.push(path);
        }
    }
    Ok(())
}
