//! The arguments of `freehold callers`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use freehold::Order;

use super::common::{parse_order, parse_seconds};

pub(super) const LONG_ABOUT: &str = "\
Show which code, processes and cgroups call for large blocks, and what that costs: how many requests failed, how long \
they waited for direct compaction and direct reclaim, how often they woke kswapd and kcompactd, and how often their \
blocks came from free lists of another migratetype (fallbacks) or changed the type of a whole pageblock (claims).

The kernel itself leaves out the requests of smaller orders, by filters on its trace events. This needs root and \
tracefs, and neither BPF nor debug information.";

const CALLERS_HELP: &str = "\
A row by code has the function that wants the memory, two callers behind `<`,
and the most frequent flags. \"in all\", \"median\" and \"99 %\" are waits of the requests
that waited. Columns without numbers are left out.

Exit codes: 0 also if there was no request; 69 no root, or no tracefs.

Example: freehold callers --duration 60 --order 9";

#[derive(Args, Debug)]
#[command(after_help = CALLERS_HELP)]
pub(crate) struct Callers {
    /// Seconds to watch; by default 10, or until the command ends. Ctrl-C also ends
    /// the watch, and the command runs on.
    #[arg(long, value_parser = parse_seconds, value_name = "SECONDS")]
    pub(crate) duration: Option<Duration>,
    /// The smallest order that counts as large; 3 is 32 KiB with pages of 4 KiB.
    #[arg(long, value_parser = parse_order, value_name = "N", default_value = "3")]
    pub(crate) order: Order,
    /// The maximum number of rows of a table.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) rows: usize,
    /// Print JSON, with every row.
    #[arg(long)]
    pub(crate) json: bool,
    /// Also write stacks for a flame graph to this file: microseconds of wait,
    /// or requests if none waited.
    #[arg(long, value_name = "FILE")]
    pub(crate) folded: Option<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long, requires = "folded")]
    pub(crate) force: bool,
    /// The command to run; the watch ends with it.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}
