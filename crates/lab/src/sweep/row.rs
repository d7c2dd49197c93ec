//! One run of a sweep.

use freehold_measure::Cell;
use serde::{Deserialize, Serialize};

use super::knobs::Value;

/// One run of a sweep.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SweepRow {
    /// Its number, traces first, the last knob fastest.
    pub run: usize,
    /// The trace as it was named.
    pub trace: String,
    /// What was set, in the order of the knobs.
    pub settings: Vec<(String, Value)>,
    /// Why there are no measures.
    pub error: Option<String>,
    /// Every measure of a comparison's overview.
    pub measures: Vec<(String, Cell)>,
}

impl SweepRow {
    /// The settings as they were given.
    pub fn settings_text(&self) -> String {
        let texts: Vec<_> = self.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if texts.is_empty() { "as recorded".to_owned() } else { texts.join(" ") }
    }
}
