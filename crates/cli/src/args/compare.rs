//! The arguments of `freehold compare`.

use std::path::PathBuf;

use clap::Args;

use super::common::{Form, Input};

#[derive(Args, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Compare {
    /// The traces.
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// Use the readable part of a truncated trace.
    #[arg(long)]
    pub(crate) partial: bool,
    #[command(flatten)]
    pub(crate) form: Form,
    /// Print every table and finding, and the effect of each system and rule alone.
    #[arg(long)]
    pub(crate) full: bool,
    /// Replay only the nearest era, and compare the replay with the machine.
    #[arg(long, conflicts_with_all = ["full", "html", "out", "svg", "replicates"])]
    pub(crate) trust: bool,
    /// Replays of each era for lock hold times; the shortest time of each hold counts.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100), value_name = "N")]
    pub(crate) timing_rounds: u32,
    /// Replays of each era with jittered daemon wake-ups; 3 to 8 by default.
    #[arg(long, value_parser = clap::value_parser!(u32).range(2..=i64::from(freehold_lab::MOST_SHIFTS)), value_name = "N")]
    pub(crate) replicates: Option<u32>,
    /// Also write a self-contained page with every table and chart.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Also write the page, pictures, tables and figures into a new folder.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// Replace the page if it exists.
    #[arg(long)]
    pub(crate) force: bool,
    /// Also draw the unusable index over time as an SVG picture; for one trace.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}

impl Compare {
    /// Returns true if the arguments require more than the summary: parts of eras, times and maps.
    pub(crate) fn wants_all(&self) -> bool {
        self.full || self.form.json || self.form.csv || self.html.is_some() || self.out.is_some()
    }

    /// Returns one input for each trace, as the commands for one trace take it.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = Input> {
        self.traces.iter().map(|trace| Input { trace: trace.clone(), partial: self.partial })
    }
}
