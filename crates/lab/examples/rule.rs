//! Compares a placement rule with the eras on a trace: `cargo run --release -- TRACE.arrows`.
//!
//! `freehold dev new-rule` copies this file into a new crate.

use std::env;
use std::error::Error;
use std::fs::File;
use std::io::BufReader;
use std::process::ExitCode;

use freehold::{Era, FallbackRequest, Offers, PlacementChoice, PlacementRule};
use freehold_lab::{Loaded, Options, Rule, Variant};
use freehold_trace::{ReadOptions, TraceReader};

/// The rule's name in tables.
const NAME: &str = "my-rule";

/// The era that makes the decisions that the rule leaves open.
const ERA: Era = Era::Linux7_3;

/// The number of replicates: replays with jittered daemon wake-ups.
const REPLICATES: u32 = 8;

/// Claims the fullest pageblock that is at least a quarter free, so that emptier pageblocks stay whole.
struct MyRule;

impl PlacementRule for MyRule {
    fn claim(&self, wanted: FallbackRequest, offers: Offers<'_>) -> PlacementChoice {
        let quarter = (1 << wanted.pageblock_order.get()) / 4;
        let fullest = offers.filter(|offer| offer.free >= quarter).min_by_key(|offer| offer.free);
        fullest.map_or(PlacementChoice::AsEra, PlacementChoice::Take)
    }
}

fn main() -> ExitCode {
    match compare() {
        Ok(tables) => {
            println!("{tables}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the tables that compare each era and the rule on the trace named on the command line.
fn compare() -> Result<String, Box<dyn Error>> {
    let path = env::args().nth(1).ok_or("no trace given; name a file that `freehold record` wrote")?;
    let open = || -> Result<_, Box<dyn Error>> {
        let file = File::open(&path).map_err(|error| format!("{path}: {error}"))?;
        Ok(TraceReader::open(BufReader::new(file), ReadOptions::default())?)
    };
    let loaded = Loaded::read(&path, open, |note| eprintln!("note: {note}"))?;
    let mut variants = Era::COMPARED.map(Variant::new).to_vec();
    variants.push(Variant::new(ERA).with_policy(Rule::new(NAME, || MyRule)));
    let once = Options { runs: 1, ..Options::default() };
    let tables = loaded.lab()?.measured(&variants, once, REPLICATES)?.tables();
    let mut text = String::new();
    for table in tables {
        text += &table.to_text();
        text.push('\n');
    }
    Ok(text)
}
