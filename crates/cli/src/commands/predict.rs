//! `freehold predict`: what recordings would be under another setting, and what came.

use std::path::PathBuf;

use freehold::Era;
use freehold_lab::Lab;
use freehold_lab::predict::{
    Came, Change, Facts, ForetellOptions, Observation, Prediction, check_lengths, check_settings,
};

use crate::args::Predict;
use crate::exit::Failure;
use crate::load::{self, Loaded};
use crate::output;

pub(crate) fn run(args: &Predict) -> Result<(), Failure> {
    let change = Change::new(args.turned())?;
    // What does not go together is found in the heads, before anything is replayed.
    let (before, against) = (facts(args, &args.traces)?, facts(args, &args.against)?);
    let notes = check_settings(&change, &before, &against)?;
    let mut lengths = Lengths::default();
    let came = came(args, change.is_only_another_kernel().then(|| before[0].era()).flatten(), &mut lengths)?;
    let observed = observed(args, &change, &mut lengths)?;
    let came = (!args.against.is_empty()).then_some(came.as_slice());
    let prediction = Prediction::new(&change, &before[0], &observed, came, notes);
    if args.json { output::print_json(&prediction) } else { output::print(&prediction.text(args.full)) }
}

fn facts(args: &Predict, traces: &[PathBuf]) -> Result<Vec<Facts>, Failure> {
    let each = traces.iter().map(|trace| {
        let reader = load::open(&args.input(trace))?;
        Ok(Facts::new(trace.display().to_string(), reader.origin(), reader.start()))
    });
    each.collect()
}

/// The pages that were asked for in the recordings that were read so far.
#[derive(Default)]
struct Lengths(Vec<(String, u64)>);

impl Lengths {
    /// Adds a recording, if it is about as long as the others.
    fn add(&mut self, name: &str, pages: u64) -> Result<(), Failure> {
        self.0.push((name.to_owned(), pages));
        let lengths: Vec<_> = self.0.iter().map(|(name, length)| (name.as_str(), *length)).collect();
        Ok(check_lengths(&lengths)?)
    }
}

/// Reads the recordings under the change, and replays them in the era before it if that is of another kernel.
fn came(args: &Predict, before: Option<Era>, lengths: &mut Lengths) -> Result<Vec<Came>, Failure> {
    let each = args.against.iter().map(|trace| {
        let loaded = load::whole(&args.input(trace))?;
        let came = match before {
            Some(era) => Came::with_replays(&lab(args, &loaded)?, era, options(args)),
            None => Came::new(loaded.trace()),
        };
        let came = came.map_err(|error| loaded.failure(error))?;
        lengths.add(&loaded.name, came.asked_pages())?;
        Ok(came)
    });
    each.collect()
}

/// Returns the lab for a recording, on a machine that moves pages at the price that was given.
fn lab<'t>(args: &Predict, loaded: &'t Loaded) -> Result<Lab<'t>, Failure> {
    let lab = loaded.lab()?;
    Ok(match args.page_move_ns {
        Some(ns) => lab.with_page_move_ns(ns),
        None => lab,
    })
}

fn options(args: &Predict) -> ForetellOptions {
    ForetellOptions { replays: args.chance, threads: args.threads.map(usize::from) }
}

/// Replays the recordings, one after the other; the replays of each run at the same time.
fn observed(args: &Predict, change: &Change, lengths: &mut Lengths) -> Result<Vec<Observation>, Failure> {
    let each = args.traces.iter().map(|trace| {
        let loaded = load::whole(&args.input(trace))?;
        lengths.add(&loaded.name, loaded.asked_pages())?;
        let observed = lab(args, &loaded)?.observe(change, options(args));
        observed.map_err(|error| loaded.failure(error))
    });
    each.collect()
}
