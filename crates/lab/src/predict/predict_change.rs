//! Prediction from recordings, with one recording in memory at a time.

use std::sync::Arc;

use freehold::Era;

use super::change::SettingChange;
use super::check::{check_lengths, check_settings};
use super::error::PredictError;
use super::facts::Facts;
use super::prediction::Prediction;
use super::recordings::{BaselineRecording, ChangedRecording, PredictOptions};
use crate::error::LabError;
use crate::loaded::Loaded;
use crate::replay::{Control, Lab};

/// A recording that is read on demand.
pub trait Recording {
    /// The error if the recording cannot be read, or does not support a prediction.
    type Error: From<PredictError>;

    /// Reads the header of the recording.
    ///
    /// # Errors
    /// The recording cannot be read.
    fn facts(&self) -> Result<Facts, Self::Error>;

    /// Reads the whole recording.
    ///
    /// # Errors
    /// The recording cannot be read.
    fn whole(&self) -> Result<Arc<Loaded>, Self::Error>;

    /// Converts an error of the lab, with the name of the recording.
    fn failed(&self, error: LabError) -> Self::Error;
}

/// The options of a prediction.
#[derive(Clone, Debug, Default)]
pub struct Predicting {
    /// The options of the replays of each recording.
    pub options: PredictOptions,
    /// The time of moving a page on this machine; `None` for the time in each recording.
    ///
    /// Units: nanoseconds.
    pub page_move_ns: Option<u64>,
    /// Progress and interruption, shared with other threads.
    pub control: Arc<Control>,
}

/// Predicts the effect of a change from recordings. If there are recordings under the change, compares the prediction
/// with them.
///
/// # Errors
/// The recordings do not belong together or cannot show the change, or reading or replaying one fails.
pub fn predict_change<R: Recording>(
    change: &SettingChange,
    before: &[R],
    against: &[R],
    how: &Predicting,
) -> Result<Prediction, R::Error> {
    // The headers show whether recordings belong together, before any replay.
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

/// The requested pages of each recording so far.
#[derive(Default)]
struct Lengths(Vec<(String, u64)>);

impl Lengths {
    /// Adds a recording if it requests about as many pages as the others.
    fn add(&mut self, name: &str, pages: u64) -> Result<(), PredictError> {
        self.0.push((name.to_owned(), pages));
        let lengths: Vec<_> = self.0.iter().map(|(name, length)| (name.as_str(), *length)).collect();
        check_lengths(&lengths)
    }
}

impl Predicting {
    /// Returns the lab for a recording, with the given time of moving a page.
    fn lab<'t>(&self, loaded: &'t Loaded) -> Result<Lab<'t>, LabError> {
        let lab = Lab::controlled(loaded.trace(), Arc::clone(&self.control))?;
        Ok(match self.page_move_ns {
            Some(ns) => lab.with_page_move_ns(ns),
            None => lab,
        })
    }

    /// Reads a recording under the change. If the change is another kernel, also replays it in the era `before`.
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

    /// Replays a recording without and with the change, several replays at the same time.
    fn baseline<R: Recording>(
        &self,
        recording: &R,
        change: &SettingChange,
        lengths: &mut Lengths,
    ) -> Result<BaselineRecording, R::Error> {
        let loaded = recording.whole()?;
        lengths.add(&loaded.name, loaded.requested_pages())?;
        let baseline = self.lab(&loaded).and_then(|lab| lab.observe(change, self.options));
        baseline.map_err(|error| recording.failed(error))
    }
}
