//! The arguments of `freehold record`.

use std::time::Duration;

use clap::{Args, ValueEnum};
use freehold::Order;
use freehold_linux::tracefs::EventGroup;
use freehold_monitor::threshold::Threshold;

use super::common::{NewTrace, parse_node, parse_order, parse_seconds, parse_size};

#[derive(Args, Debug)]
#[command(after_help = RECORD_HELP)]
pub(crate) struct Record {
    #[command(flatten)]
    pub(crate) made: NewTrace,
    /// Stop after this many seconds.
    #[arg(long, value_parser = parse_seconds, value_name = "SECONDS")]
    pub(crate) duration: Option<Duration>,
    /// Stop before the trace is larger than this, such as 500MB or 64MiB.
    #[arg(long, value_parser = parse_trace_size, value_name = "SIZE", conflicts_with = "ring")]
    pub(crate) max_size: Option<u64>,
    /// Stop after this many events; those that arrive meanwhile are kept, too.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_events: Option<u64>,
    /// Keep the last seconds in memory, and write them when the recording ends.
    #[arg(long, value_parser = parse_ring, value_name = "SECONDS")]
    pub(crate) ring: Option<Duration>,
    /// The memory limit of the ring; if it is too small, less time is kept.
    #[arg(long, value_parser = parse_trace_size, value_name = "SIZE", default_value = "256MB", requires = "ring")]
    pub(crate) ring_memory: u64,
    #[command(flatten)]
    pub(crate) until: Triggers,
    /// Run the command N times with and N times without recording, and compare.
    #[arg(
        long, value_name = "N", requires = "command", value_parser = clap::value_parser!(u32).range(1..=1000),
        conflicts_with_all = ["duration", "max_size", "max_events", "ring", "Triggers"]
    )]
    pub(crate) measure_effect: Option<u32>,
    /// The events to record; kmem and the bounds of compaction are always recorded.
    #[arg(
        long, value_enum, value_delimiter = ',', value_name = "GROUPS",
        default_values_t = [Events::Kmem, Events::Compaction, Events::Vmscan, Events::PageIsolation, Events::Cma]
    )]
    pub(crate) events: Vec<Events>,
    /// The ring buffer of each CPU, in KiB.
    #[arg(long, value_name = "KIB", value_parser = clap::value_parser!(u64).range(16..=16_777_216))]
    pub(crate) buffer: Option<u64>,
    /// Also record refills and drains of per-CPU lists.
    #[arg(long)]
    pub(crate) detail: bool,
    #[command(flatten)]
    pub(crate) snapshots: Snapshots,
    /// The command to run; without one, record until Ctrl-C.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// Parts of the snapshots to leave out.
#[derive(Args, Debug)]
pub(crate) struct Snapshots {
    /// Do not read the use of each frame.
    #[arg(long)]
    pub(crate) no_occupancy: bool,
    /// Do not read free memory block by block, which builds with BPF otherwise do.
    #[arg(long)]
    pub(crate) no_exact: bool,
}

/// Triggers, each of which ends a recording.
#[derive(Args, Debug, Default)]
#[group(multiple = true)]
pub(crate) struct Triggers {
    /// Stop when a request of this order or a larger one fails.
    #[arg(long = "until-failure", value_parser = parse_order, value_name = "ORDER")]
    pub(crate) failure: Option<Order>,
    /// Stop when a metric is above a value (checked once a second).
    #[arg(long = "until-above", value_name = "METRIC=VALUE")]
    pub(crate) above: Vec<Threshold>,
    /// Stop when a metric is below a value (checked once a second).
    #[arg(long = "until-below", value_name = "METRIC=VALUE")]
    pub(crate) below: Vec<Threshold>,
    /// For --until-above and --until-below: only zones of this name.
    #[arg(long, value_name = "NAME")]
    pub(crate) zone: Option<String>,
    /// For --until-above and --until-below: only zones of this node.
    #[arg(long, value_parser = parse_node, value_name = "N")]
    pub(crate) node: Option<u32>,
}

/// A group of trace events.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Events {
    /// Allocations, frees and fallbacks: all that a replay needs.
    Kmem,
    /// Pages that the scanners of compaction isolate, and pages that it moves.
    Compaction,
    /// Direct reclaim, kswapd, and scans of the inactive lists.
    Vmscan,
    /// Ranges of pages that are to be isolated.
    #[value(name = "page_isolation")]
    PageIsolation,
    /// Allocations from CMA areas.
    Cma,
}

impl Events {
    /// Returns the group, or `None` if it is always recorded.
    pub(crate) fn group(self) -> Option<EventGroup> {
        match self {
            Self::Kmem => None,
            Self::Compaction => Some(EventGroup::Compaction),
            Self::Vmscan => Some(EventGroup::Vmscan),
            Self::PageIsolation => Some(EventGroup::PageIsolation),
            Self::Cma => Some(EventGroup::Cma),
        }
    }
}

const RECORD_HELP: &str = "\
The metrics of --until-above and --until-below are those of `freehold watch`.
With --ring 30 the trace holds 30 to 45 seconds before the end, and begins with
a snapshot of its own; nothing is written before the end. A command that still
runs when a limit or a trigger ends the recording gets SIGTERM, and after five
seconds SIGKILL.";

/// Parses the length of a ring: at least two seconds, as each half begins with a snapshot.
fn parse_ring(text: &str) -> Result<Duration, String> {
    let keep = parse_seconds(text)?;
    let sensible = Duration::from_secs(2)..=Duration::from_hours(24);
    if sensible.contains(&keep) { Ok(keep) } else { Err("2 to 86400 seconds".to_owned()) }
}

/// Parses a size of at least one megabyte.
fn parse_trace_size(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u64); 8] = [
        ("", 1),
        ("b", 1),
        ("kb", 1000),
        ("mb", 1_000_000),
        ("gb", 1_000_000_000),
        ("kib", 1 << 10),
        ("mib", 1 << 20),
        ("gib", 1 << 30),
    ];
    let bytes = parse_size(&text.to_ascii_lowercase(), &UNITS).filter(|&bytes| bytes >= 1_000_000);
    bytes.ok_or_else(|| "a size of at least 1MB, such as 500MB or 64MiB".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse_trace_size("500MB"), Ok(500_000_000));
        assert_eq!(parse_trace_size("64 MiB"), Ok(64 << 20));
        assert_eq!(parse_trace_size("2gb"), Ok(2_000_000_000));
        assert_eq!(parse_trace_size("1000000"), Ok(1_000_000));
        for wrong in ["", "MB", "1", "999KB", "1.5GB", "-1MB", "5TB", "99999999999999999999GB"] {
            assert!(parse_trace_size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn rings_have_bounds() {
        assert!(parse_ring("1").is_err() && parse_ring("30").is_ok() && parse_ring("100000").is_err());
    }
}
