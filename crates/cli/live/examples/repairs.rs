//! Compares the forecasts of `freehold repair` with real memory, over many fragmentations.
//!
//! `cargo run -p freehold-cli --features live --example repairs -- FREEHOLD [MIB [SEEDS [WAYS [listed]]]]` as root: for each way it
//! fragments memory, sets a goal halfway between what is free and what reclaim and compaction promise, has the program
//! FREEHOLD `repair` to it, and prints the prediction and the result. Then it asks for more than the machine
//! has, which must be refused before anything is changed. Other work on the machine is to keep off meanwhile.
//! Before the goal is set, CPUs return the pages on their lists, as they do in time; with `listed`
//! they are not.

#[path = "../fragment/mod.rs"]
mod fragment;
mod question;

use std::error::Error;
use std::process::Command;

use fragment::{Random, Way};
use question::{ForecastQuestion, print_cells};
use serde_json::Value;

/// A goal above everything: more blocks of 2 MiB than any machine has.
const ABOVE: u64 = 1 << 40;

/// How often CPUs return pages from their lists: each time some two thousand a list.
const REFRESHES: u32 = 300;

fn main() -> Result<(), Box<dyn Error>> {
    let question = ForecastQuestion::read(2048)?;
    println!("{} MiB", question.mib);
    println!(
        "| way | seed | now | both | goal | steps: predicted, observed, ms, pages | now | exit | above everything |"
    );
    println!("|---|---:|---:|---:|---:|---|---:|---|---|");
    let drained = question.word.as_deref() != Some("listed");
    question.for_each(|way, seed| measure(&question.program, way, question.mib, seed, drained), print_cells);
    Ok(())
}

fn measure(program: &str, way: Way, mib: usize, seed: u64, drained: bool) -> Result<String, Box<dyn Error>> {
    let _fragmented = (way.1)(&mut Random(seed), mib, &std::env::temp_dir())?;
    rustix::fs::sync();
    for _ in 0..if drained { REFRESHES } else { 0 } {
        std::fs::read("/proc/sys/vm/stat_refresh")?;
    }
    let (_, check) = run(program, "check --json")?;
    let supply = |name: &str| check["supply"][name].as_u64().ok_or_else(|| format!("no {name}"));
    let (now, both) = (supply("now")?, supply("after_reclaim_and_compaction")?);
    let goal = now.midpoint(both).max(now + 1);
    let (code, scored) = run(program, &format!("repair --yes --json --need {goal}"))?;
    let steps = scored["steps"].as_array().ok_or("no steps")?;
    let steps: Vec<_> = steps.iter().map(step).collect();
    let available = scored["now"].as_u64().ok_or("no number")?;
    let (refused, above) = run(program, &format!("repair --yes --json --need {ABOVE}"))?;
    let untouched = above["steps"].as_array().is_some_and(Vec::is_empty);
    let above = if refused == 2 && untouched { "refused, untouched".to_owned() } else { above.to_string() };
    let ending = scored["ending"].as_str().unwrap_or_default();
    let steps = if steps.is_empty() { "none".to_owned() } else { steps.join("; ") };
    Ok(format!("{now} | {both} | {goal} | {steps} | {available} | {code} {ending} | {above}"))
}

/// One step that was done, in words.
fn step(step: &Value) -> String {
    let number = |name: &str| step[name].as_u64().unwrap_or_default();
    let pages = match step["work"].as_str() {
        Some("compact") => format!("{} migrated", number("pages_migrated")),
        Some("drop-page-cache") => format!("{} dropped of {}", number("pages_dropped"), number("pages")),
        Some("drain-lists") => format!("{} on lists", number("pages")),
        _ => format!("{} dirty", number("pages")),
    };
    format!(
        "{}: {}, {}{}, {:.0}, {pages}",
        step["work"].as_str().unwrap_or_default(),
        number("predicted"),
        number("observed"),
        if step["stopped_early"] == true { "\\*" } else { "" },
        step["took_ms"].as_f64().unwrap_or_default()
    )
}

/// Returns the program's exit code and what it printed.
fn run(program: &str, words: &str) -> Result<(i32, Value), Box<dyn Error>> {
    let ran = Command::new(program).args(words.split_ascii_whitespace()).output()?;
    let scored = serde_json::from_slice(&ran.stdout)
        .map_err(|error| format!("{error}: {}", String::from_utf8_lossy(&ran.stderr)))?;
    Ok((ran.status.code().ok_or("it was killed")?, scored))
}
