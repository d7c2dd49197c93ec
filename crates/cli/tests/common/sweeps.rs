//! A sweep of eight runs, and what it writes.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use parquet::file::reader::{FileReader, SerializedFileReader};

use super::freehold;

/// Combinations of [`VARY`].
pub(crate) const RUNS: usize = 8;

pub(crate) const VARY: [&str; 6] = [
    "--vary",
    "era=linux-6.1,freehold",
    "--vary",
    "watermark_boost_factor=0,15000",
    "--vary",
    "pageblock_order=9,7",
];

pub(crate) fn sweep(traces: &[&Path], output: &Path, more: &[&str]) -> Command {
    let mut command = freehold(["sweep"]);
    command.args(traces).arg("--output").arg(output).args(more);
    command
}

/// The rows of a Parquet file, each as text, without what depends on the time a run took.
pub(crate) fn rows(path: &Path) -> Vec<String> {
    let reader = SerializedFileReader::new(File::open(path).expect("the output")).expect("a Parquet file");
    let rows = reader.get_row_iter(None).expect("rows");
    let timed = ["zone_lock_longest_hold_ns", "replay_speed_million_events_s"];
    let text = rows.map(|row| {
        let row = row.expect("a row");
        let columns = row.get_column_iter().filter(|(name, _)| !timed.contains(&name.as_str()));
        columns.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ")
    });
    text.collect()
}
