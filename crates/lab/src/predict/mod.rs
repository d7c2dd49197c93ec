//! Prediction: recordings and a change come in; predicted measures, and their comparison with observations, go out.
//!
//! `facts.rs` and `check.rs` check that recordings belong together. `own.rs` and `recordings.rs` collect the measures
//! of the machine, and of replays without and with the change. `prediction.rs` predicts each `measure.rs` of
//! `subjects.rs`, with the uncertainty of `noise.rs`. `requests.rs` checks that both sides had the same requests.
//! `verdict.rs` compares and `text.rs` prints. `predict_change.rs` runs all steps, with one recording in memory at a
//! time. `docs/guide/predict.md` describes the computation.

mod change;
mod check;
mod error;
mod facts;
mod measure;
mod noise;
mod own;
mod predict_change;
mod prediction;
mod recordings;
mod requests;
mod series;
mod short;
mod subjects;
mod text;
mod verdict;

pub use change::SettingChange;
pub use check::{check_lengths, check_settings};
pub use error::PredictError;
pub use facts::Facts;
pub use measure::Measure;
pub use noise::{MeanDifference, unpaired};
pub use predict_change::{Predicting, Recording, predict_change};
pub use prediction::Prediction;
pub use recordings::{BaselineRecording, ChangedRecording, PredictOptions};
pub use verdict::PredictionVerdict;
