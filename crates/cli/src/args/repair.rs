//! The arguments of `freehold repair`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::common::{parse_node, parse_time};
use super::monitor::Sensing;
use super::need::Need;

pub(super) const LONG_ABOUT: &str = "\
Make free blocks of a size by reclaim and compaction (needs root).

`repair` takes the cheapest steps that suffice according to `freehold check`. After each step it compares forecast \
and result, and it stops when there are enough blocks. If no step helps, it changes nothing and names the owners of \
the memory.";

const CODES: &str = "\
Exit codes: 0 enough blocks are free; 1 nothing was done and the plan would
suffice (--dry-run, or the answer was no);
2 not possible, or too few blocks became free; 3 unknown, interrupted, or bad
arguments. With --demand: 0 the launch starts with at least 90 %, 1 it may start,
2 it fails, 3 unknown or interrupted.";

#[derive(Args, Debug)]
#[command(after_help = CODES)]
pub(crate) struct Repair {
    /// How many blocks of which size, such as 2M=500. 2M alone is one block, and
    /// 500 alone are 500 huge pages.
    #[arg(long, default_value = "1", hide_default_value = true, value_name = "[SIZE=]BLOCKS")]
    pub(crate) need: Need,
    /// Make what the requests of a launch need, and rehearse it (see `freehold
    /// rehearse -h`); `-` is stdin.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["need", "zone"])]
    pub(crate) demand: Option<PathBuf>,
    /// Only memory of this NUMA node.
    #[arg(long, value_parser = parse_node, value_name = "N")]
    pub(crate) node: Option<u32>,
    /// Only zones of this name, such as Normal; compaction still covers whole nodes.
    #[arg(long, value_name = "ZONE")]
    pub(crate) zone: Option<String>,
    /// Compact in parts of at most this time, such as 50ms, with pauses as long.
    #[arg(long, value_parser = parse_budget, value_name = "TIME")]
    pub(crate) stall_budget: Option<Duration>,
    /// Print the plan and change nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask for confirmation.
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) yes: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) sensing: Sensing,
}

/// A write to a kernel file, done by a child process that `repair` may kill.
#[derive(Args, Debug)]
pub(crate) struct KernelWrite {
    /// The CPU on which it writes.
    #[arg(long)]
    pub(crate) cpu: Option<u32>,
    /// The file; without a text all dirty pages are written back instead.
    pub(crate) file: PathBuf,
    /// The text to write to the file.
    pub(crate) text: Option<String>,
}

/// The shortest budget: a shorter one ends before the kernel has begun.
const LEAST_BUDGET: Duration = Duration::from_millis(1);

/// The longest budget.
const MOST_BUDGET: Duration = Duration::from_hours(1);

/// Parses a time with a unit.
fn parse_budget(text: &str) -> Result<Duration, String> {
    let wrong = || "a time of 1ms to 1h with its unit, such as 50ms or 2s".to_owned();
    let budget = parse_time(text).ok_or_else(wrong)?;
    if (LEAST_BUDGET..=MOST_BUDGET).contains(&budget) { Ok(budget) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_have_units() {
        for (text, ms) in [("50ms", 50), ("1ms", 1), ("2s", 2000), ("1m", 60_000), ("1h", 3_600_000)] {
            assert_eq!(parse_budget(text), Ok(Duration::from_millis(ms)));
        }
        for wrong in ["", "50", "0ms", "ms", "-5ms", "1.5s", "2h", "5us", "99999999999999999999ms"] {
            assert!(parse_budget(wrong).is_err(), "{wrong}");
        }
    }
}
