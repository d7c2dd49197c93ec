//! Many replays of a trace: the product of settings, a row of measures each.

mod columns;

use freehold::MAX_ORDERS;
use serde::{Deserialize, Serialize};

pub use columns::{SweepError, to_csv, to_parquet};

use crate::knobs::{Knob, Settings, Value};
use crate::{Lab, LabError, Options};
use freehold_measure::{Cell, Table};

/// The settings that a sweep varies, each with its values.
#[derive(Clone, Debug)]
pub struct Grid {
    /// Knobs and values; no knob twice.
    pub varied: Vec<(Knob, Vec<Value>)>,
}

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

impl Grid {
    /// How many combinations there are; `None` where the number is out of all bounds.
    pub fn combinations(&self) -> Option<usize> {
        self.varied.iter().try_fold(1_usize, |all, (_, values)| all.checked_mul(values.len()))
    }

    /// What is set in a combination; the last knob changes fastest.
    pub fn combination(&self, mut number: usize) -> Vec<(Knob, Value)> {
        let mut settings: Vec<_> = self
            .varied
            .iter()
            .rev()
            .map(|(knob, values)| {
                let value = values[number % values.len()].clone();
                number /= values.len();
                (*knob, value)
            })
            .collect();
        settings.reverse();
        settings
    }
}

impl Lab<'_> {
    /// Replays once with some settings; gives every measure of a comparison's overview by its column name.
    ///
    /// # Errors
    /// As [`Lab::replay`]: a machine that the engine refuses.
    pub fn measure(&self, settings: &[(Knob, Value)]) -> Result<Vec<(String, Cell)>, LabError> {
        let Settings { machine, variant, .. } = Settings::new(self, settings);
        let start = self.start.with_pageblocks_of(&self.machine, &machine);
        let lab = Lab { trace: self.trace, machine, start, kcompactd: self.kcompactd.clone() };
        let replay = lab.replay(&variant, Options { runs: 1, threads: Some(1), shift: 0 })?;
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

/// Measures that a text shows, and what they are called there.
const SHOWN: [(&str, &str); 7] = [
    ("failures_all_orders", "failures"),
    ("fallback_fallback_searches", "fallback searches"),
    ("fallback_requests_answered_from_another_type_s_block", "from another type's block"),
    ("pageblocks_mixed_pageblocks_at_the_end", "mixed pageblocks"),
    ("zone_lock_holds", "lock holds"),
    ("zone_lock_longest_hold_touched_pages", "longest hold, pages"),
    ("watermarks_boosts", "boosts"),
];

/// The runs with a few of their measures; without those that failed.
pub fn summary(rows: &[SweepRow]) -> Table {
    let of_one_trace = rows.iter().all(|row| row.trace == rows[0].trace);
    let mut table = Table::new("Runs", SHOWN.map(|(_, title)| title.to_owned()).to_vec());
    for row in rows.iter().filter(|row| row.error.is_none()) {
        let cell = |name: &str| row.measures.iter().find(|(known, _)| known == name).map(|(_, cell)| *cell);
        let cells = SHOWN.iter().map(|(name, _)| cell(name).unwrap_or_default());
        let settings = row.settings_text();
        let name = if of_one_trace { settings } else { format!("{}: {settings}", row.trace) };
        table.push("", &name, "", cells.collect());
    }
    table
}

impl SweepRow {
    /// The settings as they were given.
    pub fn settings_text(&self) -> String {
        let texts: Vec<_> = self.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if texts.is_empty() { "as recorded".to_owned() } else { texts.join(" ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_product_names_every_combination_once() {
        let knob = |name: &str| Knob::from_name(name).expect(name);
        let numbers = |numbers: &[u64]| numbers.iter().copied().map(Value::Number).collect::<Vec<_>>();
        let varied = vec![
            (knob("pageblock_order"), numbers(&[9, 7])),
            (knob("watermark_boost_factor"), numbers(&[0, 1, 2])),
        ];
        let grid = Grid { varied };
        assert_eq!(grid.combinations(), Some(6));
        let all: Vec<_> = (0..6)
            .map(|number| {
                grid.combination(number)
                    .iter()
                    .map(|(_, value)| value.to_string())
                    .collect::<Vec<_>>()
                    .join(" ")
            })
            .collect();
        assert_eq!(all, ["9 0", "9 1", "9 2", "7 0", "7 1", "7 2"]);
        assert_eq!(Grid { varied: Vec::new() }.combinations(), Some(1));
    }
}
