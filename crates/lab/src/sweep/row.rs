//! One run of a sweep.

use freehold_measure::Cell;
use serde::{Deserialize, Serialize};

use super::knobs::Value;

/// One run of a sweep.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SweepRow {
    /// The number of the run. It counts through the combinations of the first trace, then of the next one.
    pub run: usize,
    /// The trace, as it was named.
    pub trace: String,
    /// The settings, in the order of the knobs.
    pub settings: Vec<(String, Value)>,
    /// Why there are no measures; `None` if there are.
    pub error: Option<String>,
    /// Every measure of a comparison's overview.
    pub measures: Vec<(String, Cell)>,
}

impl SweepRow {
    /// Returns the settings as they are given on the command line.
    pub fn settings_text(&self) -> String {
        let texts: Vec<_> = self.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if texts.is_empty() { "as recorded".to_owned() } else { texts.join(" ") }
    }
}
