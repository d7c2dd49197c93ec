//! The arguments of `freehold replay`.

use clap::Args;
use freehold::{Era, Switch};

use super::common::{Form, Input, parse_era, parse_switch};

#[derive(Args, Debug)]
pub(crate) struct Replay {
    #[command(flatten)]
    pub(crate) input: Input,
    #[command(flatten)]
    pub(crate) form: Form,
    /// The era of the allocator.
    #[arg(long, value_parser = parse_era, value_name = "ERA")]
    pub(crate) era: Era,
    /// Turn a system or a rule on.
    #[arg(long = "with", value_parser = parse_switch, value_name = "SYSTEM")]
    pub(crate) with: Vec<Switch>,
    /// Turn a system or a rule off.
    #[arg(long = "without", value_parser = parse_switch, value_name = "SYSTEM")]
    pub(crate) without: Vec<Switch>,
    /// Print the final state in the format of /proc/pagetypeinfo.
    #[arg(long, conflicts_with_all = ["json", "csv"])]
    pub(crate) pagetypeinfo: bool,
    /// Replays for lock hold times; the shortest time of each hold counts.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100), value_name = "N")]
    pub(crate) timing_rounds: u32,
}
