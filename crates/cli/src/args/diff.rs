//! The arguments of `freehold diff`.

use std::path::PathBuf;

use clap::Args;

use super::page_size::parse_page_size;

pub(super) const LONG_ABOUT: &str = "\
Show what changed between two snapshots of free memory: free pages, free blocks by order, fragmentation indices, \
pageblocks by type, and free pages on the lists of each type.

A snapshot is a folder with proc, a folder with buddyinfo, pagetypeinfo or zoneinfo, one of these files, a bug report, \
a tar archive of a support tool, or the JSON of `freehold snapshot --format json`. The answer fits on one screen; \
--json has everything.

Exit codes: 0 compared; 65 a snapshot cannot be parsed, or has nothing of free memory; 66 a snapshot cannot be read.";

#[derive(Args, Debug)]
pub(crate) struct Diff {
    /// The first snapshot.
    pub(crate) before: PathBuf,
    /// The second snapshot.
    pub(crate) after: PathBuf,
    /// The page size, such as 64K, if the snapshots do not contain it.
    #[arg(long, value_parser = parse_page_size, value_name = "SIZE")]
    pub(crate) page_size: Option<u64>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
