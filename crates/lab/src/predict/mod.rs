//! Prediction: recordings under one setting and a change come in; the predicted measures, and whether they were observed, go out.
//!
//! `facts.rs` and `check.rs` decide whether recordings belong together. `own.rs` and `observation.rs` collect what the machine had,
//! and what replays have without and with the change. `prediction.rs` predicts each `measure.rs` of `subjects.rs`, with the
//! uncertainty of `noise.rs`; `requests.rs` checks that both sides had the same requests. `verdict.rs` judges and `text.rs` prints.
//! `predict_change.rs` does all of it, with one recording in memory at a time. `docs/guide/predict.md` describes the computation.

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

pub use change::Change;
pub use check::{check_lengths, check_settings};
pub use error::PredictError;
pub use facts::Facts;
pub use measure::Measure;
pub use noise::{Difference, unpaired};
pub use predict_change::{Predicting, Recording, predict_change};
pub use prediction::Prediction;
pub use recordings::{BaselineRecording, ChangedRecording, PredictOptions};
pub use verdict::Verdict;
