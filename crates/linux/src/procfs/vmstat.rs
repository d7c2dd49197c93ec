//! `/proc/vmstat`: the kernel's counters of memory.

use std::collections::BTreeMap;
use std::path::Path;

use super::read::{REPORT, number, read_text, rows};
use crate::error::{Error, ParseError};

/// Prefixes of the counters that concern the page allocator and compaction.
const KEPT: [&str; 16] = [
    "nr_free_",
    "pgalloc_",
    "pgfree",
    "pgsteal_",
    "pgscan_",
    "pgmigrate_",
    "allocstall_",
    "compact_",
    "thp_",
    "kswapd_",
    "pageoutrun",
    "oom_kill",
    "drop_",
    "nr_unaccepted",
    "pswp",
    "workingset_refault_",
];

/// Reads the counters of `proc/vmstat` below `root` that concern the allocator.
pub fn read_vmstat(root: &Path) -> Result<BTreeMap<String, u64>, Error> {
    let path = root.join("proc/vmstat");
    parse_vmstat(&read_text(&path)?).map_err(|e| e.in_file(&path, REPORT))
}

/// Reads every counter of `proc/vmstat` below `root`.
pub fn read_every_counter(root: &Path) -> Result<BTreeMap<String, u64>, Error> {
    let path = root.join("proc/vmstat");
    parse_counters(&read_text(&path)?, |_| true).map_err(|e| e.in_file(&path, REPORT))
}

/// Parses the contents of `/proc/vmstat` and keeps the counters that concern the allocator.
pub fn parse_vmstat(text: &str) -> Result<BTreeMap<String, u64>, ParseError> {
    parse_counters(text, |name| KEPT.iter().any(|start| name.starts_with(start)))
}

fn parse_counters(text: &str, keep: impl Fn(&str) -> bool) -> Result<BTreeMap<String, u64>, ParseError> {
    let mut counters = BTreeMap::new();
    if text.trim().is_empty() {
        return Err(ParseError::new(1, "rows `NAME NUMBER`", "none"));
    }
    for (line, row) in rows(text)? {
        let mut words = row.split_ascii_whitespace();
        let Some(name) = words.next() else { continue };
        if keep(name) {
            counters.insert(name.to_owned(), number(line, name, words.next())?);
        }
    }
    Ok(counters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_allocators_counters_are_kept() {
        let kept = parse_vmstat("nr_dirty 3\npgalloc_normal 77\ncompact_stall 2\n").unwrap();
        assert_eq!(
            kept.into_iter().collect::<Vec<_>>(),
            [("compact_stall".into(), 2), ("pgalloc_normal".into(), 77)]
        );
        assert_eq!(parse_vmstat("\npgfree lots\n").unwrap_err().line, 2);
        assert!(parse_vmstat("pgfree 12").is_err() && parse_vmstat("").is_err());
    }
}
