//! The arguments of `freehold check`.

use clap::Args;
use freehold::Order;

use super::common::parse_order;
use super::monitor::Sensing;

const CHECK_CODES: &str = "\
Exit codes: 0 available now; 1 only after compaction or reclaim; 2 not before memory is freed or the
machine reboots; 3 could not tell, which unusable arguments are too.";

#[derive(Args, Debug)]
#[command(after_help = CHECK_CODES)]
pub(crate) struct Check {
    /// The order of a block: 9 is 2 MiB where a page is 4 KiB.
    #[arg(long, default_value = "9", value_parser = parse_order, value_name = "N")]
    pub(crate) order: Order,
    /// How many blocks.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) blocks: u64,
    /// Only memory of this NUMA node.
    #[arg(long, value_name = "N")]
    pub(crate) node: Option<u32>,
    /// Only memory of zones of this name, such as Normal.
    #[arg(long, value_name = "ZONE")]
    pub(crate) zone: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Compact all memory, and report what was foretold against what came (needs root).
    #[arg(long = "try", conflicts_with = "root")]
    pub(crate) try_it: bool,
    #[command(flatten)]
    pub(crate) sensing: Sensing,
}
