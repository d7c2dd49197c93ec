//! One replay with some settings, as a row of measures.

use freehold::MAX_ORDERS;
use freehold_measure::Cell;

use super::columns;
use super::knobs::{Knob, Settings, Value};
use crate::error::LabError;
use crate::replay::{Lab, Options};

impl Lab<'_> {
    /// Replays once with some settings. Returns every measure of a comparison's overview, with the name of its
    /// column.
    ///
    /// # Errors
    /// As [`Lab::replay`].
    pub fn measure(&self, settings: &[(Knob, Value)]) -> Result<Vec<(String, Cell)>, LabError> {
        let Settings { machine, variant, .. } = Settings::new(self, settings);
        let lab = self.on(machine);
        let replay = lab.replay(&variant, Options { runs: 1, threads: Some(1), ..Options::default() })?;
        let mut measures = vec![("failures_all_orders".to_owned(), Cell::Count(replay.measures.failed()))];
        for order in 0..MAX_ORDERS {
            let failed = Cell::Count(replay.measures.followed.failures[order]);
            measures.push((format!("failures_order_{order}"), failed));
        }
        let tables = lab.describe(&replay);
        let rows = tables.first().map_or(&[][..], |overview| &overview.rows);
        for row in rows.iter().filter(|row| row.group != "failures") {
            let name = columns::name(&[&row.group, &row.measure, &row.unit]);
            measures.push((name, row.cells.first().copied().unwrap_or_default()));
        }
        Ok(measures)
    }
}
