//! The arguments of `freehold check`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use freehold::Order;
use freehold_monitor::verdict::HighestZone;

use super::common::{parse_node, parse_order};
use super::monitor::{ROOT_OR_COPY, Sensing};
use super::need::Need;
use super::page_size::parse_page_size;

const CHECK_CODES: &str = "\
Exit codes, as monitoring plugins have them: 0 OK, free now; 1 WARNING, 10 %
likely or more after the kernel's own reclaim and compaction; 2 CRITICAL, less
than 10 % likely; 3 UNKNOWN, also for arguments or input that cannot be used.";

#[derive(Args, Clone, Debug)]
#[command(after_help = CHECK_CODES, mut_arg("root", |root| root.help(ROOT_OR_COPY)))]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub(crate) struct Check {
    /// How many blocks of which size, such as 2M=500. 2M alone is one block, and
    /// 500 alone are 500 huge pages.
    #[arg(long, default_value = "1", hide_default_value = true, value_name = "[SIZE=]BLOCKS")]
    pub(crate) need: Need,
    /// The block order, instead of the size: 9 is 2 MiB with pages of 4 KiB.
    #[arg(long, value_parser = parse_order, value_name = "N")]
    pub(crate) order: Option<Order>,
    /// Who requests the blocks; by default hugetlb, if it has a pool of this size.
    #[arg(long, value_enum, conflicts_with = "quick")]
    pub(crate) by: Option<By>,
    /// Only memory of this NUMA node.
    #[arg(long, value_parser = parse_node, value_name = "N")]
    pub(crate) node: Option<u32>,
    /// Only memory of nodes that this process may use (cpuset, memory policy).
    #[arg(long, value_name = "PID", conflicts_with = "for_cgroup")]
    pub(crate) for_pid: Option<u32>,
    /// Only memory of nodes that this cgroup may use, such as system.slice.
    #[arg(long, value_name = "CGROUP")]
    pub(crate) for_cgroup: Option<PathBuf>,
    /// Only memory of zones of this name, such as Normal.
    #[arg(long, value_name = "ZONE")]
    pub(crate) zone: Option<String>,
    /// The zones that the request may use; by default kernel for alloc and atomic, otherwise user.
    #[arg(long, value_enum, conflicts_with = "zone")]
    pub(crate) zones: Option<ZonesChoice>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print every reason, not only the first ten lines.
    #[arg(long, conflicts_with = "quick")]
    pub(crate) full: bool,
    /// Add performance data to the first line, as monitoring plugins have it.
    #[arg(long, conflicts_with_all = ["json", "quick"])]
    pub(crate) perfdata: bool,
    /// Compact all memory, and compare the forecast with the result (needs root).
    #[arg(long, conflicts_with = "root")]
    pub(crate) verify: bool,
    /// Sample memory for about a second, and print confidence intervals.
    #[arg(long, conflicts_with = "verify")]
    pub(crate) quick: bool,
    /// The page size of the machine below --root, such as 64K, if not in its files.
    #[arg(long, value_parser = parse_page_size, value_name = "SIZE", requires = "root")]
    pub(crate) page_size: Option<u64>,
    #[command(flatten)]
    pub(crate) sensing: Sensing,
}

/// Who requests blocks.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum By {
    /// Writes to `nr_hugepages`, up to three.
    Hugetlb,
    /// Page faults in memory that wants transparent huge pages.
    Thp,
    /// `freehold repair`, and then hugetlb.
    Repair,
    /// The kernel, which may wait (`GFP_KERNEL`); not calibrated.
    Alloc,
    /// The kernel, which may not wait (`GFP_ATOMIC`); not calibrated.
    Atomic,
    /// Contiguous ranges of whole pageblocks (`alloc_contig_pages`).
    Range,
}

/// The zones that a request may use.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ZonesChoice {
    /// All zones.
    User,
    /// All but `HighMem` and `Movable`.
    Kernel,
    /// `DMA32` and `DMA`.
    Dma32,
    /// `DMA`.
    Dma,
}

impl From<ZonesChoice> for HighestZone {
    fn from(choice: ZonesChoice) -> Self {
        match choice {
            ZonesChoice::User => Self::User,
            ZonesChoice::Kernel => Self::Kernel,
            ZonesChoice::Dma32 => Self::Dma32,
            ZonesChoice::Dma => Self::Dma,
        }
    }
}

impl Check {
    /// Returns the same of the machine below another root.
    pub(crate) fn below(&self, root: &Path) -> Self {
        let sensing = Sensing { root: root.to_owned(), ..self.sensing.clone() };
        Self { sensing, ..self.clone() }
    }
}

/// A setting to restore when the parent process ends; `check --verify` and `repair` start it.
#[derive(Args, Debug)]
pub(crate) struct GiveBack {
    /// The file.
    pub(crate) file: PathBuf,
    /// The number to restore.
    pub(crate) number: u64,
}
