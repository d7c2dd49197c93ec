//! A machine's files inside one file: a bug report, an archive of a support tool, or a text that a person pasted.
//!
//! `text.rs` finds the parts of a text by their headings and by their form, `archive.rs` those of a tar archive by their paths.

mod archive;
mod part;
mod text;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::ftrace_text::{open_packed, unpack};
use crate::procfs::refuse_special;

use part::{LOGS, is_log, unpacked_name};

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
/// `note` is called for a log of a folder that cannot be read to its end; the others are read all the same.
///
/// # Errors
/// If the file or the folder cannot be read.
pub fn open_log(
    path: &Path,
    note: impl FnMut(Box<dyn std::error::Error>) + 'static,
) -> Result<Box<dyn BufRead>, Error> {
    let failed = |error| Error::io("read", path, error);
    if path.is_dir() {
        let mut logs = Vec::new();
        find_logs(path, 0, &mut logs).map_err(failed)?;
        if logs.is_empty() {
            let what = format!("it has no kernel log, such as {}", LOGS.join(", "));
            return Err(failed(io::Error::new(io::ErrorKind::IsADirectory, what)));
        }
        logs.sort_by_cached_key(|log| age(log));
        return Ok(Box::new(io::BufReader::new(Logs {
            left: logs.into_iter(),
            now: Box::new(io::empty()),
            note,
        })));
    }
    let mut text = unpack(path, open_packed(path)?)?;
    let is_archive = archive::is_header(text.fill_buf().map_err(failed)?);
    Ok(if is_archive { Box::new(io::BufReader::new(archive::ArchivedLogs::new(text))) } else { text })
}

/// Returns a key that sorts logs: by folder and name, and of one name the oldest first. `dmesg.2.gz` is older than `dmesg.1`, which
/// is older than `dmesg`; `messages-20260101` is older than `messages-20260108`, which is older than `messages`.
fn age(log: &Path) -> (PathBuf, String, Reverse<u64>, bool, String) {
    let name = log.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let base = unpacked_name(&name);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let numbered = base.rsplit_once('.').filter(|(_, number)| digits(number));
    let dated =
        base.split_once('-').filter(|(_, date)| date.starts_with(|first: char| first.is_ascii_digit()));
    let folder = log.parent().unwrap_or(Path::new("")).to_owned();
    match (numbered, dated) {
        (Some((stem, number)), _) => {
            (folder, stem.to_owned(), Reverse(number.parse().unwrap_or(u64::MAX)), false, name)
        }
        // All before the current log, the earliest first.
        (None, Some((stem, _))) => (folder, stem.to_owned(), Reverse(1), false, name),
        (None, None) => (folder, base.to_owned(), Reverse(0), true, name),
    }
}

/// The logs of a folder, one after the other. What cannot be read or unpacked of one is left out.
struct Logs<N> {
    left: std::vec::IntoIter<PathBuf>,
    now: Box<dyn BufRead>,
    note: N,
}

impl<N: FnMut(Box<dyn std::error::Error>)> Read for Logs<N> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.now.read(buffer) {
                Ok(0) if !buffer.is_empty() => {}
                Err(error) if error.kind() != io::ErrorKind::Interrupted => (self.note)(error.into()),
                read => return read,
            }
            let Some(path) = self.left.next() else { return Ok(0) };
            self.now = open_packed(&path).and_then(|file| unpack(&path, file)).unwrap_or_else(|error| {
                (self.note)(error.into());
                Box::new(io::empty())
            });
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
        } else if kind.is_file() && logs.len() < MOST_LOGS && is_log(unpacked_name(&path.to_string_lossy())) {
            logs.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_logs_come_first() {
        let oldest_first = [
            "l/dmesg.10.gz",
            "l/dmesg.2.xz",
            "l/dmesg.1",
            "l/dmesg",
            "l/messages-20260101.gz",
            "l/messages-20260108",
            "l/messages",
        ];
        let mut logs: Vec<_> = oldest_first.iter().rev().map(PathBuf::from).collect();
        logs.sort_by_cached_key(|log| age(log));
        assert_eq!(logs, oldest_first.map(PathBuf::from));
    }
}
