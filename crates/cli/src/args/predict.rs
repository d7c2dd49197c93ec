//! The arguments of `freehold predict`.

use std::path::PathBuf;

use clap::Args;
use freehold_lab::sweep::{Knob, Value};

use super::common::{parse_knob, parse_value};

pub(super) const LONG_ABOUT: &str = "\
Predict each measure under another setting, from recordings under one setting.

Each recording is replayed as it was recorded, in the era nearest to its kernel, and with the change, several times \
with jittered daemon wake-ups. With --against, the prediction is compared with recordings of the same work under the \
change: direction and size.

Use about five recordings a side. A difference counts only if its 99 % confidence interval excludes 0.";

#[derive(Args, Debug)]
pub(crate) struct Predict {
    /// Recordings of one workload under one setting.
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// The setting and its new value, such as era=linux-7.3; see `freehold sweep -h`.
    #[arg(long, required = true, value_parser = parse_set, value_name = "SETTING=VALUE")]
    pub(crate) set: Vec<(Knob, Value)>,
    /// Recordings of the same workload with the change.
    #[arg(long, num_args = 1.., value_name = "TRACE")]
    pub(crate) against: Vec<PathBuf>,
    /// Replays of each recording with jittered daemon wake-ups.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=i64::from(freehold_lab::MOST_SHIFTS)), value_name = "N")]
    pub(crate) replicates: u32,
    /// Nanoseconds to move a page; by default as each recording shows, or 4000.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000), value_name = "NS")]
    pub(crate) page_move_ns: Option<u64>,
    /// Use the readable part of a truncated trace.
    #[arg(long)]
    pub(crate) partial: bool,
    /// Parallel replays; by default one for each processor.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024), value_name = "N")]
    pub(crate) threads: Option<u16>,
    /// Print every measure, and why some are undecided.
    #[arg(long, conflicts_with = "json")]
    pub(crate) full: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

fn parse_set(text: &str) -> Result<(Knob, Value), String> {
    let (knob, value) = parse_knob(text, "VALUE")?;
    Ok((knob, parse_value(knob, value)?))
}
