//! Holds `freehold blame` against real memory, over many fragmentations.
//!
//! `cargo run -p freehold-cli --features live --example blames -- FREEHOLD [MIB [SEEDS [WAYS]]]` as root: for each way it has the program FREEHOLD
//! watch twice, once while nothing is done and once while memory is fragmented, and prints whom it blames. Other work on the machine is
//! to keep off meanwhile.

#[path = "../blamed/mod.rs"]
mod blamed;
#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../fragment/mod.rs"]
mod fragment;
mod question;

use std::collections::HashMap;
use std::error::Error;
use std::path::Path;

use blamed::{blamed, culprit, pages_of, title};
use fragment::{Random, Way};
use question::{ForecastQuestion, print_cells};
use serde_json::Value;

/// Holders that are printed: those that are in the most more blocks than before.
const HOLDERS: usize = 3;

fn main() -> Result<(), Box<dyn Error>> {
    let question = ForecastQuestion::read(1024)?;
    println!("{} MiB", question.mib);
    println!(
        "| way | seed | kept blocks | with a name | movable only | who is in the most more blocks than before | culprit's pages | named |"
    );
    println!("|---|---:|---:|---:|---:|---|---:|---|");
    question
        .for_each(|way, seed| measure(Path::new(&question.program), way, question.mib, seed), print_cells);
    Ok(())
}

fn measure(program: &Path, way: Way, mib: usize, seed: u64) -> Result<String, Box<dyn Error>> {
    let place = tempfile::tempdir()?;
    let before = blamed(program, place.path(), || Ok(Vec::new()))?;
    let after = blamed(program, place.path(), || (way.1)(&mut Random(seed), mib, place.path()))?;
    let kept = |json: &Value| json["kept"].as_u64().unwrap_or_default();
    let movable = |json: &Value| json["movable"]["pageblocks"].as_u64().unwrap_or_default();
    let named = after["named"]["whole"].as_u64().unwrap_or_default();
    let blocks = |json: &Value| -> HashMap<String, i64> {
        let rows = json["rows"].as_array().into_iter().flatten();
        rows.map(|row| (title(row), row["blocks"].as_i64().unwrap_or_default())).collect()
    };
    let earlier = blocks(&before);
    let mut more: Vec<_> = blocks(&after)
        .into_iter()
        .map(|(title, blocks)| (blocks - earlier.get(&title).unwrap_or(&0), title))
        .filter(|(more, _)| *more > 0)
        .collect();
    more.sort_by(|one, other| other.cmp(one));
    let holders: Vec<_> = more.iter().take(HOLDERS).map(|(more, title)| format!("{title} {more}")).collect();
    let (signs, each_mib) = culprit(way.0);
    let (pages_before, pages) = (pages_of(&before, &signs), pages_of(&after, &signs));
    let is_named = match signs.len() {
        0 => "nobody to name",
        _ if pages.saturating_sub(pages_before) as f64 >= each_mib * mib as f64 => "yes",
        _ => "no",
    };
    Ok(format!(
        "{} → {} | {:.1} % | {} → {} | {} | {pages_before} → {pages} | {is_named}",
        kept(&before),
        kept(&after),
        100.0 * named as f64 / kept(&after).max(1) as f64,
        movable(&before),
        movable(&after),
        holders.join("; ")
    ))
}
