//! What stays the same while a machine is up: its kernel, its CPUs, its memory.

use std::path::Path;

use serde::Serialize;

use super::read::{REPORT, read_text, rows};
use crate::error::{Error, ParseError};

/// What a machine is.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Machine {
    /// `uname -r`.
    pub kernel_release: String,
    /// CPUs that are online.
    pub cpus: u32,
    /// Bytes of a page.
    pub page_bytes: u64,
    /// `MemTotal` in bytes.
    pub memory_bytes: u64,
}

/// The files that a [`Machine`] is read from.
const RELEASE: &str = "proc/sys/kernel/osrelease";
const CPUS: &str = "sys/devices/system/cpu/online";
const MEMORY: &str = "proc/meminfo";

impl Machine {
    /// What is not known of the machine, and which file below `root` would tell it.
    pub(crate) fn missing(&self, root: &Path) -> Vec<String> {
        let parts = [
            (self.kernel_release.is_empty(), "the kernel's release", RELEASE),
            (self.cpus == 0, "the number of CPUs", CPUS),
            (self.memory_bytes == 0, "the size of memory", MEMORY),
        ];
        let missing = parts.iter().filter(|(missing, ..)| *missing);
        let note = |(_, what, file): &(bool, &str, &str)| {
            format!("{what} is not known: {} is missing or closed", root.join(file).display())
        };
        missing.map(note).collect()
    }
}

/// Reads what a machine is below `root`; what cannot be read stays empty.
///
/// # Errors
/// A file that is there and makes no sense.
pub fn read_machine(root: &Path) -> Result<Machine, Error> {
    Ok(Machine {
        kernel_release: read(root, RELEASE, release)?,
        cpus: read(root, CPUS, count_of_ranges)?,
        page_bytes: rustix::param::page_size() as u64,
        memory_bytes: read(root, MEMORY, memory_bytes)?,
    })
}

/// What `parse` makes of a file, or nothing where the file is missing or closed.
fn read<T: Default>(root: &Path, file: &str, parse: fn(&str) -> Result<T, ParseError>) -> Result<T, Error> {
    let path = root.join(file);
    match read_text(&path) {
        Ok(text) => parse(&text).map_err(|e| e.in_file(&path, REPORT)),
        Err(error) if error.is_closed_or_missing() => Ok(T::default()),
        Err(error) => Err(error),
    }
}

fn release(text: &str) -> Result<String, ParseError> {
    let release = rows(text)?.next().map_or("", |(_, row)| row.trim());
    if release.is_empty() {
        Err(ParseError::new(1, "a kernel's release", "none"))
    } else {
        Ok(release.to_owned())
    }
}

/// How many numbers a text such as `0-3,8` names.
fn count_of_ranges(text: &str) -> Result<u32, ParseError> {
    let wrong = || ParseError::new(1, "ranges of numbers (`0-3,8`)", text);
    let mut count = 0_u32;
    let (_, row) = rows(text)?.next().ok_or_else(wrong)?;
    for range in row.trim().split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) =
            (first.parse().map_err(|_| wrong())?, last.parse().map_err(|_| wrong())?);
        let numbers = last.checked_sub(first).and_then(|more| more.checked_add(1)).ok_or_else(wrong)?;
        count = count.checked_add(numbers).ok_or_else(wrong)?;
    }
    Ok(count)
}

fn memory_bytes(text: &str) -> Result<u64, ParseError> {
    for (line, row) in rows(text)? {
        if let Some(rest) = row.strip_prefix("MemTotal:") {
            let wrong = || ParseError::new(line, "a number of kB", rest);
            let kib: u64 = rest.trim().trim_end_matches("kB").trim().parse().map_err(|_| wrong())?;
            return kib.checked_mul(1024).ok_or_else(wrong);
        }
    }
    Err(ParseError::new(0, "a row `MemTotal:`", "none"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_counted() {
        assert_eq!(count_of_ranges("0-3,8\n").unwrap(), 5);
        for broken in ["", "\n", "3-1\n", "x\n", "0-4294967295\n", "0-3,\n", "0-1"] {
            assert!(count_of_ranges(broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn memory_is_in_bytes() {
        assert_eq!(memory_bytes("MemTotal:       24000 kB\n").unwrap(), 24_576_000);
        for broken in ["MemTotal: lots kB\n", "MemTotal:  240", "MemFree: 3 kB\n", ""] {
            assert!(memory_bytes(broken).is_err(), "{broken}");
        }
    }
}
