//! Compares the verdict's forecast of compaction with real compactions, over many fragmentations.
//!
//! `cargo run --release -p freehold-cli --features live --example fragmentations -- FREEHOLD [MIB [SEEDS [WAYS]]]` as root:
//! for each way it fragments memory, has the program FREEHOLD `check --verify`, and prints what was promised, what
//! was predicted at most, and the result. As a control it has FREEHOLD `check` twice before, as long apart as
//! readings are from compactions: what changes there is the machine's own doing, and no error.

#[path = "../fragment/mod.rs"]
mod fragment;
mod question;

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::process::Command;
use std::time::Instant;

use fragment::{Random, Way};
use question::ForecastQuestion;
use serde_json::Value;

fn main() -> Result<(), Box<dyn Error>> {
    let question = ForecastQuestion::read(3072)?;
    println!("{} MiB", question.mib);
    println!(
        "way                 seed  before  promised  at most  real  error %  drift %  compaction ms  migrated  \
         check ms  types    gives up    undecided"
    );
    let print = |name: &str, seed, row: &dyn Display| println!("{name:20}{seed:>4} {row}");
    let rows = question.for_each(|way, seed| measure(&question.program, way, question.mib, seed), print);
    summary("all runs", rows.iter());
    let is_decided = |row: &&Row| row.undecided.is_empty();
    summary("decided", rows.iter().filter(is_decided));
    summary("undecided", rows.iter().filter(|row| !is_decided(row)));
    summary("more than 20000 pages migrated", rows.iter().filter(|row| row.migrated > 20_000));
    Ok(())
}

/// The result of one run.
struct Row {
    before: u64,
    promised: u64,
    at_most: u64,
    real: u64,
    error_percent: f64,
    drift_percent: f64,
    compaction_ms: u64,
    migrated: u64,
    check_ms: u64,
    types: String,
    gives_up: Vec<u64>,
    undecided: String,
}

impl Display for Row {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:>7} {:>9} {:>8} {:>5} {:>+8.1} {:>+8.1} {:>14} {:>9} {:>9}  {:8} {:11x?} {}",
            self.before,
            self.promised,
            self.at_most,
            self.real,
            self.error_percent,
            self.drift_percent,
            self.compaction_ms,
            self.migrated,
            self.check_ms,
            self.types,
            self.gives_up,
            self.undecided
        )
    }
}

fn summary<'a>(title: &str, rows: impl Iterator<Item = &'a Row>) {
    let rows: Vec<_> = rows.collect();
    let count = |wanted: fn(&Row) -> bool| rows.iter().filter(|row| wanted(row)).count();
    println!(
        "{title}: {}, within 5 %: {}, promised too much: {}, by more than the control's drift: {}",
        rows.len(),
        count(|row| row.error_percent.abs() <= 5.0),
        count(|row| row.promised > row.real),
        count(|row| row.error_percent > row.drift_percent.abs())
    );
}

fn measure(program: &str, way: Way, mib: usize, seed: u64) -> Result<Row, Box<dyn Error>> {
    let pinned = (way.1)(&mut Random(seed), mib, &std::env::temp_dir())?;
    rustix::fs::sync();
    let (first, _) = check(program, &["check", "--json"])?;
    let (second, check_ms) = check(program, &["check", "--json"])?;
    let drift_percent = percent(promised(&first)?, promised(&second)?);
    let before = migrated()?;
    let (report, _) = check(program, &["check", "--verify", "--json"])?;
    let tried = &report["tried"];
    let number = |name: &str| tried[name].as_u64().ok_or_else(|| format!("no {name}"));
    let row = Row {
        before: number("before")?,
        promised: number("predicted")?,
        at_most: number("at_most")?,
        real: number("real")?,
        error_percent: percent(number("predicted")?, number("real")?),
        drift_percent,
        compaction_ms: number("compaction_ms")?,
        migrated: migrated()? - before,
        check_ms,
        types: report["types"].as_str().unwrap_or_default().to_owned(),
        undecided: report["undecided"].as_str().unwrap_or_default().to_owned(),
        gives_up: zones(&report)?.iter().filter_map(|zone| zone["gives_up_at_pfn"].as_u64()).collect(),
    };
    drop(pinned);
    Ok(row)
}

/// Returns the output of the program, and its duration in milliseconds.
fn check(program: &str, args: &[&str]) -> Result<(Value, u64), Box<dyn Error>> {
    let started = Instant::now();
    let ran = Command::new(program).args(args).output()?;
    let took_ms = started.elapsed().as_millis() as u64;
    let report = serde_json::from_slice(&ran.stdout)
        .map_err(|error| format!("{error}: {}", String::from_utf8_lossy(&ran.stderr)))?;
    Ok((report, took_ms))
}

fn zones(report: &Value) -> Result<&Vec<Value>, Box<dyn Error>> {
    Ok(report["zones"].as_array().ok_or("no zones")?)
}

/// Free blocks after compaction, as the report promises them.
fn promised(report: &Value) -> Result<u64, Box<dyn Error>> {
    let blocks = zones(report)?.iter().map(|zone| zone["compacted"].as_u64());
    Ok(blocks.sum::<Option<u64>>().ok_or("nothing was predicted")?)
}

/// By how much `scored` is above `real`.
fn percent(scored: u64, real: u64) -> f64 {
    (scored as f64 - real as f64) * 100.0 / (real.max(1) as f64)
}

/// Pages that the kernel has migrated so far.
fn migrated() -> Result<u64, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/vmstat")?;
    let number = text.lines().find_map(|row| row.strip_prefix("pgmigrate_success "));
    Ok(number.ok_or("pgmigrate_success")?.parse()?)
}
