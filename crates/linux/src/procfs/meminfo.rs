//! `/proc/meminfo`: the sizes of memory.

use std::path::Path;

use super::read::{REPORT, copied_rows, read_text};
use crate::error::{Error, ParseError};

/// The file, below a root.
pub(super) const MEMINFO: &str = "proc/meminfo";

/// Reads the row `name` (such as `MemAvailable`) of `proc/meminfo` below `root`.
///
/// Units: bytes.
///
/// # Errors
/// A file that cannot be read, and one without that row.
pub fn read_meminfo(root: &Path, name: &str) -> Result<u64, Error> {
    let path = root.join(MEMINFO);
    parse_meminfo(&read_text(&path)?, name).map_err(|e| e.in_file(&path, REPORT))
}

/// Returns the free swap below `root`; 0 where it is not known.
///
/// Units: pages of `page_bytes`.
pub fn free_swap_pages(root: &Path, page_bytes: u64) -> u64 {
    read_meminfo(root, "SwapFree").unwrap_or(0) / page_bytes.max(1)
}

/// Returns the row `name`, which is in KiB, in bytes.
pub(super) fn parse_meminfo(text: &str, name: &str) -> Result<u64, ParseError> {
    for (line, row) in copied_rows(text, is_amount)? {
        if let Some(rest) = row.strip_prefix(name).and_then(|rest| rest.strip_prefix(':')) {
            let wrong = || ParseError::new(line, "a number of kB", rest);
            let kib: u64 = rest.trim().trim_end_matches("kB").trim().parse().map_err(|_| wrong())?;
            return kib.checked_mul(1024).ok_or_else(wrong);
        }
    }
    Err(ParseError::new(0, format!("a row `{name}:`"), "none"))
}

/// Returns true if a row is a whole amount, which ends with its unit.
fn is_amount(row: &str) -> bool {
    row.trim_end().ends_with("kB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_in_bytes() {
        let total = |text| parse_meminfo(text, "MemTotal");
        assert_eq!(total("MemTotal:       24000 kB\nMemFree:  3 kB\n").unwrap(), 24_576_000);
        for broken in ["MemTotal: lots kB\n", "MemTotal:  240", "MemFree: 3 kB\n", "MemTotals: 3 kB\n", ""] {
            assert!(total(broken).is_err(), "{broken}");
        }
    }
}
