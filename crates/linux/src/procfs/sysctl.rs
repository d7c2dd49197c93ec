//! `/proc/sys/vm`: the settings that steer the page allocator.

use std::collections::BTreeMap;
use std::path::Path;

use super::read::read_text;
use crate::error::Error;

/// The settings that are read, where the kernel has them.
pub const SYSCTLS: [&str; 11] = [
    "compact_unevictable_allowed",
    "compaction_proactiveness",
    "defrag_mode",
    "extfrag_threshold",
    "lowmem_reserve_ratio",
    "min_free_kbytes",
    "percpu_pagelist_high_fraction",
    "swappiness",
    "watermark_boost_factor",
    "watermark_scale_factor",
    "zone_reclaim_mode",
];

/// Reads the settings in `proc/sys/vm` below `root`; what this kernel lacks is left out.
pub fn read_sysctls(root: &Path) -> Result<BTreeMap<String, String>, Error> {
    let folder = root.join("proc/sys/vm");
    let mut settings = BTreeMap::new();
    for name in SYSCTLS {
        match read_text(&folder.join(name)) {
            Ok(text) => {
                let words: Vec<_> = text.split_ascii_whitespace().collect();
                settings.insert(name.to_owned(), words.join(" "));
            }
            Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(settings)
}
