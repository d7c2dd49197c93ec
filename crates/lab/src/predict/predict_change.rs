//! Foretelling from recordings of which one at a time is in memory.

use std::sync::Arc;

use freehold::Era;

use super::change::Change;
use super::check::{check_lengths, check_settings};
use super::error::PredictError;
use super::facts::Facts;
use super::prediction::Prediction;
use super::recordings::{BaselineRecording, ChangedRecording, PredictOptions};
use crate::error::LabError;
use crate::loaded::Loaded;
use crate::replay::{Control, Lab};

/// A recording that is read when it is needed.
pub trait Recording {
    /// Why it cannot be read, or nothing be foretold from it.
    type Error: From<PredictError>;

    /// Reads what the head of the recording tells.
    ///
    /// # Errors
    /// It cannot be read.
    fn facts(&self) -> Result<Facts, Self::Error>;

    /// Reads all of the recording.
    ///
    /// # Errors
    /// It cannot be read.
    fn whole(&self) -> Result<Arc<Loaded>, Self::Error>;

    /// Returns an error of the lab that names the recording.
    fn failed(&self, error: LabError) -> Self::Error;
}

/// How is foretold.
#[derive(Clone, Debug, Default)]
pub struct Predicting {
    /// How each recording is replayed.
    pub options: PredictOptions,
    /// What moving a page takes on this machine; what each recording tells where not given.
    ///
    /// Units: nanoseconds.
    pub page_move_ns: Option<u64>,
    /// Shared with whoever waits.
    pub control: Arc<Control>,
}

/// Foretells from recordings what a change would do and, if there are recordings under it, holds that against them.
///
/// # Errors
/// Recordings that do not go together or cannot show the change, and every error of reading and replaying them.
pub fn predict_change<R: Recording>(
    change: &Change,
    before: &[R],
    against: &[R],
    how: &Predicting,
) -> Result<Prediction, R::Error> {
    // What does not go together is found in the heads, before anything is replayed.
    let facts = |recordings: &[R]| recordings.iter().map(R::facts).collect::<Result<Vec<_>, _>>();
    let (before_facts, against_facts) = (facts(before)?, facts(against)?);
    let notes = check_settings(change, &before_facts, &against_facts)?;
    let mut lengths = Lengths::default();
    let era = change.is_only_another_kernel().then(|| before_facts[0].era()).flatten();
    let observed: Result<Vec<_>, _> = against.iter().map(|of| how.observed(of, era, &mut lengths)).collect();
    let observed = observed?;
    let baseline: Result<Vec<_>, _> =
        before.iter().map(|of| how.baseline(of, change, &mut lengths)).collect();
    let observed = (!against.is_empty()).then_some(observed.as_slice());
    Ok(Prediction::new(change, &before_facts[0], &baseline?, observed, notes))
}

/// The pages that were asked for in the recordings that were read so far.
#[derive(Default)]
struct Lengths(Vec<(String, u64)>);

impl Lengths {
    /// Adds a recording, if it is about as long as the others.
    fn add(&mut self, name: &str, pages: u64) -> Result<(), PredictError> {
        self.0.push((name.to_owned(), pages));
        let lengths: Vec<_> = self.0.iter().map(|(name, length)| (name.as_str(), *length)).collect();
        check_lengths(&lengths)
    }
}

impl Predicting {
    /// Returns the lab for a recording, on a machine that moves pages at the price that was given.
    fn lab<'t>(&self, loaded: &'t Loaded) -> Result<Lab<'t>, LabError> {
        let lab = Lab::controlled(loaded.trace(), Arc::clone(&self.control))?;
        Ok(match self.page_move_ns {
            Some(ns) => lab.with_page_move_ns(ns),
            None => lab,
        })
    }

    /// Reads a recording under the change, and replays it in the era `before` if the change is of another kernel.
    fn observed<R: Recording>(
        &self,
        recording: &R,
        before: Option<Era>,
        lengths: &mut Lengths,
    ) -> Result<ChangedRecording, R::Error> {
        let loaded = recording.whole()?;
        let observed = match before {
            Some(era) => {
                self.lab(&loaded).and_then(|lab| ChangedRecording::with_replays(&lab, era, self.options))
            }
            None => ChangedRecording::new(loaded.trace()),
        };
        let observed = observed.map_err(|error| recording.failed(error))?;
        lengths.add(&loaded.name, observed.requested_pages())?;
        Ok(observed)
    }

    /// Replays a recording as it was made and with the change, several replays at the same time.
    fn baseline<R: Recording>(
        &self,
        recording: &R,
        change: &Change,
        lengths: &mut Lengths,
    ) -> Result<BaselineRecording, R::Error> {
        let loaded = recording.whole()?;
        lengths.add(&loaded.name, loaded.requested_pages())?;
        let baseline = self.lab(&loaded).and_then(|lab| lab.observe(change, self.options));
        baseline.map_err(|error| recording.failed(error))
    }
}
