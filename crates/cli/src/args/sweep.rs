//! The arguments of `freehold sweep`.

use std::path::PathBuf;

use clap::Args;
use freehold_lab::sweep::{Knob, Value};

use super::common::{Form, parse_knob};

pub(super) const LONG_ABOUT: &str = "\
Replay traces with every combination of the given values, on all processors, and write one Parquet file.

The file has one row a run: the trace, each varied setting, every measure of the overview of `freehold compare`, means \
over time, mean and standard deviation of several replays, the difference between replay and machine, and the error \
of a run that failed. Without --vary each trace is replayed once, as recorded.

A journal beside the output (FILE.journal) keeps each finished run. After an interruption, the same command continues. \
If no run succeeds, the command writes nothing.";

/// Lists the knobs for the help text.
fn knobs() -> String {
    let lines = Knob::all().map(|knob| {
        let unit = if knob.unit.is_empty() { String::new() } else { format!(", in {}", knob.unit) };
        format!("  {}\n      {}{unit}: {}\n", knob.name, knob.doc, knob.values())
    });
    let lines: String = lines.collect();
    format!(
        "What can be varied:\n{lines}\nThe era is the one nearest to the recorded kernel where it is not varied. \
         min_free_kbytes and watermark_scale_factor set the watermarks and the bounds of per-CPU lists as the \
         kernel does.\n\nExit codes: as of `freehold --help`; 75 if the output is complete but some runs failed."
    )
}

#[derive(Args, Debug)]
#[command(after_help = knobs())]
pub(crate) struct Sweep {
    /// The traces.
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// Use the readable part of a truncated trace.
    #[arg(long)]
    pub(crate) partial: bool,
    /// A setting and its values, such as counts=on,off; may be repeated.
    #[arg(long, value_parser = parse_vary, value_name = "SETTING=VALUE,…")]
    pub(crate) vary: Vec<Vary>,
    /// The Parquet file to write.
    #[arg(short, long, default_value = "sweep.parquet", value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Replace the file if it exists.
    #[arg(long)]
    pub(crate) force: bool,
    /// Start again, and discard the finished runs of a stopped sweep.
    #[arg(long)]
    pub(crate) restart: bool,
    /// Replays of each run with jittered daemon wake-ups; 1 gives no deviations.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=i64::from(freehold_lab::MOST_SHIFTS)), value_name = "N")]
    pub(crate) replicates: u32,
    /// Parallel replays; by default one for each processor.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024), value_name = "N")]
    pub(crate) threads: Option<u16>,
    #[command(flatten)]
    pub(crate) form: Form,
}

/// A setting and its values.
#[derive(Clone, Debug)]
pub(crate) struct Vary {
    pub(crate) knob: Knob,
    pub(crate) values: Vec<Value>,
}

fn parse_vary(text: &str) -> Result<Vary, String> {
    let (knob, list) = parse_knob(text, "VALUE,…")?;
    let values = knob.several(list.split(',')).map_err(|error| error.to_string())?;
    Ok(Vary { knob, values })
}
