//! `freehold predict`: the effect of a setting on recordings, and observations.

use std::path::Path;
use std::sync::Arc;

use freehold_lab::predict::{Facts, PredictOptions, Predicting, Recording, SettingChange, predict_change};
use freehold_lab::{LabError, Loaded};

use crate::args::{Input, Predict};
use crate::exit::Failure;
use crate::load;
use crate::output;

pub(crate) fn run(args: &Predict) -> Result<(), Failure> {
    let change = SettingChange::new(args.set.clone())?;
    let how = Predicting {
        options: PredictOptions { replays: args.replicates, threads: args.threads.map(usize::from) },
        page_move_ns: args.page_move_ns,
        ..Predicting::default()
    };
    let inputs =
        |traces: &[std::path::PathBuf]| traces.iter().map(|trace| input(args, trace)).collect::<Vec<_>>();
    let prediction = predict_change(&change, &inputs(&args.traces), &inputs(&args.against), &how)?;
    if args.json { output::print_json(&prediction) } else { output::print(&prediction.text(args.full)) }
}

/// One trace of several, as other commands have it.
fn input(args: &Predict, trace: &Path) -> Input {
    Input { trace: trace.to_owned(), partial: args.partial }
}

impl Recording for Input {
    type Error = Failure;

    fn facts(&self) -> Result<Facts, Failure> {
        let reader = load::open(self)?;
        Ok(Facts::new(self.name(), reader.origin(), reader.start()))
    }

    fn whole(&self) -> Result<Arc<Loaded>, Failure> {
        load::whole(self).map(Arc::new)
    }

    fn failed(&self, error: LabError) -> Failure {
        load::failure(&self.name(), error)
    }
}
