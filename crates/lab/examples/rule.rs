//! A rule of placement, and what the eras and it make of a trace: `cargo run --release -- TRACE.arrows`.
//!
//! This file is what `freehold new-rule` starts a crate from.

use std::env;
use std::error::Error;
use std::fs::File;
use std::io::BufReader;
use std::process::ExitCode;

use freehold::{Choice, Era, Offers, PlacementRule, Wanted};
use freehold_lab::{Loaded, Options, Rule, Variant};
use freehold_trace::{ReadOptions, TraceReader};

/// The rule's name in tables.
const NAME: &str = "my-rule";

/// The era that decides where the rule does not.
const ERA: Era = Era::Linux7_3;

/// Replays that tell what is chance.
const CHANCE: u32 = 8;

/// Claims the fullest pageblock of which at least a quarter is free, so that emptier ones stay whole.
struct MyRule;

impl PlacementRule for MyRule {
    fn claim(&self, wanted: Wanted, offers: Offers<'_>) -> Choice {
        let quarter = (1 << wanted.pageblock_order.get()) / 4;
        let fullest = offers.filter(|offer| offer.free >= quarter).min_by_key(|offer| offer.free);
        fullest.map_or(Choice::AsEra, Choice::Take)
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

/// Returns what each era and the rule make of the trace that the command line names.
fn compare() -> Result<String, Box<dyn Error>> {
    let path = env::args().nth(1).ok_or("which trace? Name a file that `freehold record` wrote")?;
    let open = || -> Result<_, Box<dyn Error>> {
        let file = File::open(&path).map_err(|error| format!("{path}: {error}"))?;
        Ok(TraceReader::open(BufReader::new(file), ReadOptions::default())?)
    };
    let loaded = Loaded::read(&path, open, |note| eprintln!("note: {note}"))?;
    let mut variants = Era::COMPARED.map(Variant::new).to_vec();
    variants.push(Variant::new(ERA).ruled(Rule::new(NAME, || MyRule)));
    let once = Options { runs: 1, ..Options::default() };
    let tables = loaded.lab()?.measured(&variants, once, CHANCE)?.tables();
    let mut text = String::new();
    for table in tables {
        text += &table.to_text();
        text.push('\n');
    }
    Ok(text)
}
