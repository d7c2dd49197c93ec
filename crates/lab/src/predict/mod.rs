//! Foretelling: recordings under one setting and a change go in; what each measure would be, and whether it came, come
//! out.

mod change;
mod check;
mod error;
mod facts;
mod foretell;
mod measure;
mod noise;
mod observation;
mod own;
mod prediction;
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
pub use foretell::{Foretelling, Recording, foretell};
pub use measure::Measure;
pub use noise::{Difference, unpaired};
pub use observation::{Came, ForetellOptions, Observation};
pub use prediction::Prediction;
pub use verdict::Verdict;
