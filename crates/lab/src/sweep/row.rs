//! One run of a sweep.

use freehold_measure::Cell;
use serde::{Deserialize, Serialize};

use super::knobs::Value;

/// One run of a sweep.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SweepRow {
    /// The number of the run, counted over the combinations of the first trace, then over those of the next.
    pub run: usize,
    /// The trace, as named by the user.
    pub trace: String,
    /// The settings, in the order of the knobs.
    pub settings: Vec<(String, Value)>,
    /// The error of a run without measures; `None` if the run succeeded.
    pub error: Option<String>,
    /// Every measure of a comparison's overview.
    pub measures: Vec<(String, Cell)>,
}

impl SweepRow {
    /// Returns the settings in the form of the command line.
    pub fn settings_text(&self) -> String {
        let texts: Vec<_> = self.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if texts.is_empty() { "as recorded".to_owned() } else { texts.join(" ") }
    }
}
