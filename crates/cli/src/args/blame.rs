//! The arguments of `freehold blame`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use freehold::Order;

use super::common::{parse_node, parse_order, parse_seconds};
use super::monitor::Sensing;
use super::need::parse_block_size;

const BLAME_HELP: &str = "\
/proc/kpageflags, BPF and /proc/kpagecgroup show what unmovable pages are.
page_owner shows which code allocated them (CONFIG_PAGE_OWNER, page_owner=on).
Without page_owner, BPF shows the code of what is allocated during the command.
With CONFIG_MEM_ALLOC_PROFILING, a second table has the memory in use by code.
The watch takes at most one percent of a CPU; under load it watches fewer
pageblocks.

Example: freehold blame --duration 20 --rows 3";

#[derive(Args, Debug)]
#[command(after_help = BLAME_HELP)]
pub(crate) struct Blame {
    /// Seconds to watch allocations with BPF; by default until the command ends,
    /// without a command 10, or 0 with `page_owner`.
    #[arg(long, value_parser = parse_seconds, value_name = "SECONDS")]
    pub(crate) duration: Option<Duration>,
    /// Summarize this dump of `page_owner` instead of the machine; `-` is stdin.
    #[arg(long, value_name = "FILE",
        conflicts_with_all = ["duration", "older", "size", "order", "node", "zone", "folded", "root", "sensor", "command"])]
    pub(crate) page_owner: Option<PathBuf>,
    /// Leave out pages that were allocated less than this many seconds ago.
    #[arg(long, value_parser = parse_seconds, value_name = "SECONDS", default_value = "1")]
    pub(crate) older: Duration,
    /// The block size, such as 64K, 2M or 1G; by default that of huge pages.
    #[arg(long, value_parser = parse_block_size, value_name = "SIZE", conflicts_with = "order")]
    pub(crate) size: Option<u64>,
    /// The block order, instead of the size.
    #[arg(long, value_parser = parse_order, value_name = "N")]
    pub(crate) order: Option<Order>,
    /// Only memory of this NUMA node.
    #[arg(long, value_parser = parse_node, value_name = "N")]
    pub(crate) node: Option<u32>,
    /// Only memory of zones of this name, such as Normal.
    #[arg(long, value_name = "ZONE")]
    pub(crate) zone: Option<String>,
    /// The maximum number of rows of a table.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) rows: usize,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Also write stacks for a flame graph to this file, weighted by blocks.
    #[arg(long, value_name = "FILE")]
    pub(crate) folded: Option<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long, requires = "folded")]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) sensing: Sensing,
    /// The command to run; the watch ends with it.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}
