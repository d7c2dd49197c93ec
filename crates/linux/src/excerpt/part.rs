//! The files of a machine that an excerpt may contain, and how their lines are read.

use std::io::{self, BufRead, Read as _};

/// The files that are looked for, by their paths below the root of a machine.
pub(super) const FILES: [&str; 12] = [
    "proc/buddyinfo",
    "proc/pagetypeinfo",
    "proc/zoneinfo",
    "proc/meminfo",
    "proc/vmstat",
    "proc/slabinfo",
    "proc/vmallocinfo",
    "proc/pressure/memory",
    "proc/self/smaps",
    "proc/sys/kernel/osrelease",
    "sys/devices/system/cpu/online",
    "sys/kernel/mm/transparent_hugepage/hpage_pmd_size",
];

/// The most bytes of a part.
pub(super) const MAX_PART_BYTES: usize = 64 << 20;

/// The starts of the names of kernel logs.
pub(super) const LOGS: [&str; 7] =
    ["dmesg", "messages", "syslog", "kern.log", "journalctl", "console", "last_kmsg"];

/// Returns true if a path is that of a kernel log that is not compressed.
pub(super) fn is_log(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_packed = [".gz", ".xz", ".bz2", ".zst"].iter().any(|end| name.ends_with(end));
    !is_packed && LOGS.iter().any(|log| name.starts_with(log))
}

/// Returns a name without the end of a compression that can be unpacked.
pub(super) fn unpacked_name(name: &str) -> &str {
    [".gz", ".xz", ".zst"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
}

/// Reads a line without its end; `None` at the end of the file. Longer lines than a part's limit are cut.
pub(super) fn next_line(file: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    let read = file.take(MAX_PART_BYTES as u64).read_until(b'\n', &mut line)?;
    Ok((read > 0).then(|| String::from_utf8_lossy(&line).into_owned()))
}
