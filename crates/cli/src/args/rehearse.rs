//! The arguments of `freehold rehearse`.

use std::path::PathBuf;

use clap::Args;

use super::common::parse_node;
use super::monitor::{ROOT_OR_COPY, Sensing};
use super::page_size::parse_page_size;

pub(super) const LONG_ABOUT: &str = "\
Say whether a launch starts on this machine: whether the kernel serves all the requests that it makes, one after another, \
from the memory as it is now. Nothing is changed.

FILE has a request a line; what follows a # is ignored:

  hugetlb 2M=512   512 huge pages of 2 MiB; those free in the pool count first
  thp 24G          24 GiB of transparent huge pages
  anon 32G         32 GiB of memory in single pages
  order 7=40       40 blocks of the kernel, which may wait (GFP_KERNEL);
                   `alloc 512K=40` is the same
  atomic 64K=8     8 blocks of the kernel, which may not wait (GFP_ATOMIC)
  range 1G=2       2 contiguous ranges (alloc_contig_pages)

The forecast for hugetlb and thp is calibrated on machines up to 1 GiB; otherwise it is not calibrated. Other programs are \
assumed to do nothing meanwhile.";

const CODES: &str = "\
Exit codes, as monitoring plugins have them: 0 OK, starts from free memory;
1 WARNING, 10 % likely or more after the kernel's own reclaim and compaction;
2 CRITICAL, less than 10 % likely; 3 UNKNOWN, also for arguments or input that
cannot be used.";

#[derive(Args, Clone, Debug)]
#[command(after_help = CODES, mut_arg("root", |root| root.help(ROOT_OR_COPY)))]
pub(crate) struct Rehearse {
    /// The requests of the launch; `-` or none is stdin.
    #[arg(default_value = "-", hide_default_value = true)]
    pub(crate) file: PathBuf,
    /// Only memory of this NUMA node.
    #[arg(long, value_parser = parse_node, value_name = "N")]
    pub(crate) node: Option<u32>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// The page size of the machine below --root, such as 64K, if not in its files.
    #[arg(long, value_parser = parse_page_size, value_name = "SIZE", requires = "root")]
    pub(crate) page_size: Option<u64>,
    #[command(flatten)]
    pub(crate) sensing: Sensing,
}
