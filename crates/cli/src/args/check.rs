//! The arguments of `freehold check`.

use std::path::{Path, PathBuf};

use clap::{Args, value_parser};
use freehold::Order;

use super::common::{parse_order, parse_size};
use super::monitor::Sensing;
use super::page_size::parse_page_size;

const CHECK_CODES: &str = "\
Exit codes: 0 available now; 1 only after compaction or reclaim; 2 not before memory is freed or the
machine reboots; 3 could not tell, which unusable arguments are too.";

#[derive(Args, Clone, Debug)]
#[command(after_help = CHECK_CODES)]
pub(crate) struct Check {
    /// The size of a block, such as 64K, 2M, 32M or 1G: a power of two times the machine's page size;
    /// without --order that of the machine's huge pages, 2M on most.
    #[arg(long, value_parser = parse_block_size, value_name = "SIZE", conflicts_with = "order")]
    pub(crate) size: Option<u64>,
    /// The order of a block, instead of its size: 9 is 2 MiB where a page is 4 KiB.
    #[arg(long, value_parser = parse_order, value_name = "N")]
    pub(crate) order: Option<Order>,
    /// How many blocks.
    #[arg(long, default_value_t = 1, value_parser = value_parser!(u64).range(1..), value_name = "N")]
    pub(crate) blocks: u64,
    /// Only memory of this NUMA node.
    #[arg(long, value_name = "N")]
    pub(crate) node: Option<u32>,
    /// Only memory of the nodes that this process may use, by its cpuset and memory policies.
    #[arg(long, value_name = "PID", conflicts_with = "for_cgroup")]
    pub(crate) for_pid: Option<u32>,
    /// Only memory of the nodes that this cgroup may use, such as system.slice, by its cpuset.
    #[arg(long, value_name = "CGROUP")]
    pub(crate) for_cgroup: Option<PathBuf>,
    /// Only memory of zones of this name, such as Normal.
    #[arg(long, value_name = "ZONE")]
    pub(crate) zone: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Compact all memory, and report what was foretold against what came (needs root).
    #[arg(long = "try", conflicts_with = "root")]
    pub(crate) try_it: bool,
    /// Look at a random sample of memory for about a second, and say how sure that is.
    #[arg(long, conflicts_with = "try_it")]
    pub(crate) quick: bool,
    /// The size of a page of the machine below --root, such as 64K, if its files do not say it.
    #[arg(long, value_parser = parse_page_size, value_name = "SIZE", requires = "root")]
    pub(crate) page_size: Option<u64>,
    #[command(flatten)]
    pub(crate) sensing: Sensing,
}

impl Check {
    /// Returns the same of the machine below another root.
    pub(crate) fn below(&self, root: &Path) -> Self {
        let sensing = Sensing { root: root.to_owned(), ..self.sensing.clone() };
        Self { sensing, ..self.clone() }
    }
}

/// What is given back when the process that took it ends; `check --try` and `repair` start it.
#[derive(Args, Debug)]
pub(crate) struct GiveBack {
    /// The file.
    pub(crate) file: PathBuf,
    /// The number that it is to hold again.
    pub(crate) number: u64,
}

/// The units of sizes of blocks.
const UNITS: [(&str, u64); 14] = [
    ("", 1),
    ("b", 1),
    ("k", 1 << 10),
    ("kb", 1 << 10),
    ("kib", 1 << 10),
    ("m", 1 << 20),
    ("mb", 1 << 20),
    ("mib", 1 << 20),
    ("g", 1 << 30),
    ("gb", 1 << 30),
    ("gib", 1 << 30),
    ("t", 1 << 40),
    ("tb", 1 << 40),
    ("tib", 1 << 40),
];

/// Parses a size of a block. All units are powers of two, as in Linux's names for huge pages.
pub(super) fn parse_block_size(text: &str) -> Result<u64, String> {
    parse_size(&text.to_ascii_lowercase(), &UNITS)
        .filter(|&bytes| bytes > 0)
        .ok_or_else(|| "a size above 0 with a unit, such as 64K, 2M, 32M or 1G".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_blocks_have_units_of_two() {
        for (text, bytes) in
            [("4096", 4096), ("64k", 64 << 10), ("2M", 2 << 20), ("1 GiB", 1 << 30), ("2MB", 2 << 20)]
        {
            assert_eq!(parse_block_size(text), Ok(bytes));
        }
        for wrong in ["0", "0M", "", "M", "-2M", "1.5G", "2X", "20000000T"] {
            assert!(parse_block_size(wrong).is_err(), "{wrong}");
        }
    }
}
