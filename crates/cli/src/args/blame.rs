//! The arguments of `freehold blame`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use freehold::Order;

use super::common::{parse_order, parse_seconds};
use super::monitor::Sensing;
use super::need::parse_block_size;

const BLAME_HELP: &str = "\
What unmovable pages are is told by /proc/kpageflags, BPF and /proc/kpagecgroup. Which code allocated them is told by
page_owner where the kernel keeps it (CONFIG_PAGE_OWNER, booted with page_owner=on, debugfs mounted), and otherwise by BPF, of
what is allocated while this command watches. Where the kernel counts memory by code (CONFIG_MEM_ALLOC_PROFILING), in the whole
machine and since it began to, a second table says so. The watch takes at most one percent of a CPU: it watches fewer pageblocks
where much is allocated.";

#[derive(Args, Debug)]
#[command(after_help = BLAME_HELP)]
pub(crate) struct Blame {
    /// Seconds to watch allocations for by BPF; with a command the most seconds, and 10 without one. Where the kernel has
    /// `page_owner` and neither is given, nothing is watched.
    #[arg(long, value_parser = parse_seconds, value_name = "SECONDS")]
    pub(crate) duration: Option<Duration>,
    /// Sum up this dump of `page_owner` by pageblock and code, and read nothing else; `-` is standard input.
    #[arg(long, value_name = "FILE",
        conflicts_with_all = ["duration", "older", "size", "order", "node", "zone", "folded", "root", "sensor", "command"])]
    pub(crate) page_owner: Option<PathBuf>,
    /// Leave out pages that were allocated less than this many seconds ago.
    #[arg(long, value_parser = parse_seconds, value_name = "SECONDS", default_value = "1")]
    pub(crate) older: Duration,
    /// The size of the blocks that are kept, such as 64K, 2M or 1G; without --order that of the machine's huge pages.
    #[arg(long, value_parser = parse_block_size, value_name = "SIZE", conflicts_with = "order")]
    pub(crate) size: Option<u64>,
    /// The order of the blocks, instead of their size.
    #[arg(long, value_parser = parse_order, value_name = "N")]
    pub(crate) order: Option<Order>,
    /// Only memory of this NUMA node.
    #[arg(long, value_name = "N")]
    pub(crate) node: Option<u32>,
    /// Only memory of zones of this name, such as Normal.
    #[arg(long, value_name = "ZONE")]
    pub(crate) zone: Option<String>,
    /// The most rows of a table.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) rows: usize,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Also write the stacks to this file, each with the thousandths of blocks that it keeps, as flame graphs are drawn from.
    #[arg(long, value_name = "FILE")]
    pub(crate) folded: Option<PathBuf>,
    /// Replace the file that is there.
    #[arg(long, requires = "folded")]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) sensing: Sensing,
    /// What to run meanwhile.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}
