//! What stays the same while a machine is up: its kernel, its CPUs, its memory.

use std::path::Path;

use serde::Serialize;

use super::read::{REPORT, read_text};
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

/// Reads what a machine is below `root`; what cannot be read stays empty.
///
/// # Errors
/// A file that is there and makes no sense.
pub fn read_machine(root: &Path) -> Result<Machine, Error> {
    let text = |path: &str| match read_text(&root.join(path)) {
        Err(error) if error.is_closed_or_missing() => Ok(String::new()),
        other => other,
    };
    let cpus = root.join("sys/devices/system/cpu/online");
    let meminfo = root.join("proc/meminfo");
    Ok(Machine {
        kernel_release: text("proc/sys/kernel/osrelease")?.trim().to_owned(),
        cpus: count_of_ranges(&text("sys/devices/system/cpu/online")?)
            .map_err(|e| e.in_file(&cpus, REPORT))?,
        page_bytes: rustix::param::page_size() as u64,
        memory_bytes: memory_bytes(&text("proc/meminfo")?).map_err(|e| e.in_file(&meminfo, REPORT))?,
    })
}

/// How many numbers a text such as `0-3,8` names.
fn count_of_ranges(text: &str) -> Result<u32, ParseError> {
    let wrong = || ParseError::new(1, "ranges of numbers (`0-3,8`)", text);
    let mut count = 0_u32;
    for range in text.trim().split(',').filter(|range| !range.is_empty()) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) =
            (first.parse().map_err(|_| wrong())?, last.parse().map_err(|_| wrong())?);
        let numbers = last.checked_sub(first).and_then(|more| more.checked_add(1)).ok_or_else(wrong)?;
        count = count.checked_add(numbers).ok_or_else(wrong)?;
    }
    Ok(count)
}

fn memory_bytes(text: &str) -> Result<u64, ParseError> {
    for (line, row) in (1..).zip(text.lines()) {
        if let Some(rest) = row.strip_prefix("MemTotal:") {
            let wrong = || ParseError::new(line, "a number of kB", rest);
            let kib: u64 = rest.trim().trim_end_matches("kB").trim().parse().map_err(|_| wrong())?;
            return kib.checked_mul(1024).ok_or_else(wrong);
        }
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_counted() {
        assert_eq!(count_of_ranges("0-3,8\n").unwrap(), 5);
        assert_eq!(count_of_ranges("").unwrap(), 0);
        for broken in ["3-1", "x", "0-4294967295"] {
            assert!(count_of_ranges(broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn memory_is_in_bytes() {
        assert_eq!(memory_bytes("MemTotal:       24000 kB\n").unwrap(), 24_576_000);
        assert!(memory_bytes("MemTotal: lots kB\n").is_err());
    }
}
