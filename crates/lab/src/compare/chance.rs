//! The part of a difference between eras that is chance.
//!
//! A trace does not tell when daemons looked at the zones. Where memory is short, it depends on a single look
//! whether a refill finds the lists of its own type empty, and the consequences can be as large as a difference
//! between eras. So the same trace is replayed several times, with the daemons' looks shifted by some events.

use freehold::{Era, Order};
use freehold_measure::{Cell, Table};
use serde::{Serialize, Serializer};

use crate::error::LabError;
use crate::recorded::Recorded;
use crate::replay::{EVENTS_A_LOOK, Lab, Measures, Options, Variant};
use crate::start::free_pageblocks;

/// The largest number of different replays of an era.
pub const MOST_SHIFTS: u32 = EVENTS_A_LOOK;

/// Several replays of each era that differ only in when daemons look at the zones.
#[derive(Clone, PartialEq, Debug)]
pub struct Chance {
    /// The number of replays of each era.
    pub replays: u32,
    /// The value of each subject in each replay of each era.
    eras: Vec<Vec<[f64; SUBJECTS.len()]>>,
    /// The value of each subject on the machine, if the trace tells it.
    machine: [Option<u64>; SUBJECTS.len()],
}

/// A number by which replays are compared: its name, its unit, its value in a replay with pageblocks of some
/// order, and its value on the machine.
type Subject = (&'static str, &'static str, fn(&Measures, Order) -> f64, fn(&OfMachine<'_>) -> Option<u64>);

/// What the machine itself had.
struct OfMachine<'r> {
    recorded: &'r Recorded,
    free_pageblocks: Option<u64>,
}

const SUBJECTS: [Subject; 7] = [
    (
        "free pageblocks at the end",
        "pageblocks",
        |m, _| m.free_pageblocks_at_end as f64,
        |of| of.free_pageblocks,
    ),
    ("free pageblocks, mean over time", "pageblocks", |m, order| m.mean_free_pageblocks(order), |_| None),
    ("huge pages held at the end", "", |m, _| m.followed.held_huge_pages_at_end as f64, |_| None),
    ("huge pages refused", "", |m, _| m.followed.huge_page_failures as f64, |_| None),
    ("mixed pageblocks at the end", "pageblocks", |m, _| m.mixed.end as f64, |_| None),
    (
        "fallback events",
        "",
        |m, _| (m.locked.claims + m.locked.steals) as f64,
        |of| of.recorded.has_fallbacks.then_some(of.recorded.claims + of.recorded.steals),
    ),
    ("pages moved", "pages", |m, _| m.events.pgmigrate_success as f64, |_| None),
];

impl Lab<'_> {
    /// Replays every era several times, at most [`MOST_SHIFTS`] times.
    ///
    /// # Errors
    /// As [`Lab::replay`].
    pub(super) fn chance(&self, replays: u32, options: Options) -> Result<Chance, LabError> {
        let replays = replays.clamp(1, MOST_SHIFTS);
        let variants = Era::ALL.map(Variant::new);
        let order = self.machine.pageblock_order;
        let mut eras: Vec<Vec<[f64; SUBJECTS.len()]>> = vec![Vec::new(); variants.len()];
        for number in 0..replays {
            let shift = number * EVENTS_A_LOOK / replays;
            let round = self.replay_all(&variants, Options { runs: 1, shift, ..options })?;
            for (of_era, replay) in eras.iter_mut().zip(round) {
                // All measures of all replays would take much memory: samples and maps.
                of_era.push(SUBJECTS.map(|(_, _, of, _)| of(&replay.measures, order)));
            }
        }
        let recorded = self.recorded();
        let free_pageblocks = self.end().map(|end| free_pageblocks(&self.machine, end));
        let of_machine = OfMachine { recorded: &recorded, free_pageblocks };
        let machine = SUBJECTS.map(|(_, _, _, of)| of(&of_machine));
        Ok(Chance { replays, eras, machine })
    }
}

impl Chance {
    /// Returns the mean and the standard deviation of each subject, with a column for each era and one for the
    /// machine.
    pub fn table(&self) -> Table {
        let columns = Era::ALL.iter().map(|era| era.name().to_owned()).chain(["machine".to_owned()]);
        let title =
            format!("What is chance: {} replays of each era, the daemons' looks shifted", self.replays);
        let mut table = Table::new(title, columns.collect());
        for (number, (name, unit, ..)) in SUBJECTS.into_iter().enumerate() {
            let series =
                self.eras.iter().map(|of_era| of_era.iter().map(|values| values[number]).collect::<Vec<_>>());
            let (means, deviations): (Vec<_>, Vec<_>) =
                series.map(|values| mean_and_deviation(&values)).unzip();
            let machine = self.machine[number].map_or(Cell::Empty, Cell::Count);
            let cells = |values: Vec<f64>, last| values.into_iter().map(Cell::Real).chain([last]).collect();
            table.push(name, "mean", unit, cells(means, machine));
            table.push(name, "standard deviation", unit, cells(deviations, Cell::Empty));
        }
        table
    }
}

/// Serializes the number of replays, and the table.
impl Serialize for Chance {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Document {
            replays: u32,
            table: Table,
        }
        Document { replays: self.replays, table: self.table() }.serialize(serializer)
    }
}

/// Returns the mean and the standard deviation of a sample.
fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0).max(1.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_deviation_of_samples() {
        for (values, expected) in [
            (&[1.0, 3.0][..], (2.0, 2.0_f64.sqrt())),
            (&[2.0, 4.0, 6.0], (4.0, 2.0)),
            (&[7.0], (7.0, 0.0)),
            (&[], (0.0, 0.0)),
        ] {
            let (mean, deviation) = mean_and_deviation(values);
            assert!((mean - expected.0).abs() < 1e-12, "{values:?}: {mean}");
            assert!((deviation - expected.1).abs() < 1e-12, "{values:?}: {deviation}");
        }
    }
}
