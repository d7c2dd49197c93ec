//! `/proc/PID/status`: what processes hold of memory.

use std::fs;
use std::path::Path;

use serde::Serialize;

use super::read::read_text;
use crate::error::Error;

/// What one process holds of memory.
///
/// Units: bytes.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ProcessMemory {
    /// Its number.
    pub pid: u32,
    /// Its name, at most fifteen bytes.
    pub name: String,
    /// Anonymous memory that is present (`RssAnon`).
    pub anon_bytes: u64,
    /// Memory that it mlocked (`VmLck`).
    pub locked_bytes: u64,
    /// Memory that it pinned (`VmPin`).
    pub pinned_bytes: u64,
}

/// Reads what processes below `root` hold, the most anonymous memory first.
///
/// A process that ends meanwhile and one without memory of its own, such as a kernel thread, are left out.
///
/// # Errors
/// If `proc` cannot be read.
pub fn read_processes(root: &Path) -> Result<Vec<ProcessMemory>, Error> {
    let folder = root.join("proc");
    let mut found = Vec::new();
    for entry in fs::read_dir(&folder).map_err(|e| Error::io("read", &folder, e))? {
        let entry = entry.map_err(|e| Error::io("read", &folder, e))?;
        let pid = entry.file_name().to_str().and_then(|name| name.parse().ok());
        let Some(pid) = pid else { continue };
        let Ok(text) = read_text(&entry.path().join("status")) else { continue };
        found.extend(parse_status(pid, &text));
    }
    found.sort_by_key(|process| (std::cmp::Reverse(process.anon_bytes), process.pid));
    Ok(found)
}

/// Parses the contents of `/proc/PID/status`. Returns `None` for a process without memory of its own.
pub fn parse_status(pid: u32, text: &str) -> Option<ProcessMemory> {
    let row = |wanted: &str| {
        let rows = text.lines().filter_map(|row| row.split_once(':'));
        rows.filter(|(name, _)| *name == wanted).map(|(_, value)| value.trim()).next()
    };
    let bytes = |wanted: &str| -> Option<u64> {
        row(wanted)?.trim_end_matches("kB").trim().parse::<u64>().ok()?.checked_mul(1024)
    };
    // Only Linux before 4.5 lacks RssAnon.
    let anon_bytes = bytes("RssAnon").or_else(|| bytes("VmRSS"))?;
    Some(ProcessMemory {
        pid,
        name: row("Name")?.to_owned(),
        anon_bytes,
        locked_bytes: bytes("VmLck").unwrap_or(0),
        pinned_bytes: bytes("VmPin").unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATUS: &str = "Name:\tqemu: x\nVmLck:\t      12 kB\nVmPin:\t       8 kB\nVmRSS:\t    1708 kB\nRssAnon:\t     112 kB\n";

    #[test]
    fn what_a_process_holds_is_read() {
        let process = parse_status(7, STATUS).unwrap();
        assert_eq!((process.pid, process.name.as_str()), (7, "qemu: x"));
        assert_eq!(
            [process.anon_bytes, process.locked_bytes, process.pinned_bytes].map(|n| n >> 10),
            [112, 12, 8]
        );
        let old = STATUS.replace("RssAnon", "RssFile");
        assert_eq!(parse_status(7, &old).unwrap().anon_bytes >> 10, 1708);
    }

    #[test]
    fn what_has_no_memory_is_left_out() {
        assert_eq!(parse_status(2, "Name:\tkthreadd\nState:\tS\n"), None);
        for broken in [
            "",
            "Name:\tx\nRssAnon:\t lots kB\n",
            "RssAnon:\t 1 kB\n",
            "Name:\tx\nRssAnon:\t 99999999999999999 kB\n",
        ] {
            assert_eq!(parse_status(2, broken), None, "{broken}");
        }
    }

    #[test]
    fn this_process_is_among_them() {
        let found = read_processes(Path::new("/")).unwrap();
        let own = found.iter().find(|process| process.pid == std::process::id()).expect("this process");
        assert!(own.anon_bytes > 0 && found[0].anon_bytes >= own.anon_bytes, "{own:?}");
    }
}
