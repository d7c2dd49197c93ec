//! Replicates: replays of the same trace that differ only by jittered daemon wake-ups.
//!
//! A trace does not record when the daemons checked the zones. If memory is short, a single wake-up decides whether
//! a refill finds the lists of its own type empty. The consequences can be as large as a difference between eras. The
//! standard deviation over replicates measures this noise.

use freehold::Era;
use freehold_measure::{Cell, Table};
use serde::{Serialize, Serializer};

use super::change::{Change, Spread};
use super::measured_row::{MACHINE, MeasuredRow};
use super::subjects::{OfMachine, SUBJECTS, Values};
use crate::replay::{EVENTS_PER_WAKE_UP, Lab};

/// The group of the means of several replays.
const GROUP: &str = "replicates";

/// The largest number of replicates: the number of different jitters of daemon wake-ups.
pub const MOST_SHIFTS: u32 = EVENTS_PER_WAKE_UP;

/// The default total of events over all replays of all eras: about five seconds on two processors.
const EVENTS_OF_ALL: u64 = 40_000_000;

/// The smallest and the largest default number of replicates.
const BY_DEFAULT: (u32, u32) = (3, 8);

/// Several replays of each era that differ only in the wake-up times of the daemons.
#[derive(Clone, PartialEq, Debug)]
pub struct Replicates {
    /// The number of replays of each era. With 1 the noise is unknown.
    pub replays: u32,
    /// The names of the eras or other variants.
    variants: Vec<String>,
    /// The value of each subject in each replay of each era. The first replay is the one in
    /// [`super::Comparison::eras`].
    pub(super) eras: Vec<Vec<Values>>,
    /// The value of each subject on the machine; `None` if the trace lacks it.
    machine: [Option<u64>; SUBJECTS.len()],
}

impl Lab<'_> {
    /// Returns the default number of replicates of each era: 3 to 8, fewer for longer traces.
    pub fn replays_by_default(&self) -> u32 {
        let events = self.trace.events.len() as u64 * Era::COMPARED.len() as u64;
        let replays = EVENTS_OF_ALL / events.max(1);
        u32::try_from(replays).unwrap_or(u32::MAX).clamp(BY_DEFAULT.0, BY_DEFAULT.1)
    }
}

impl Replicates {
    pub(super) fn new(variants: Vec<String>, eras: Vec<Vec<Values>>, machine: &OfMachine<'_>) -> Self {
        let replays = eras.first().map_or(0, Vec::len) as u32;
        Self {
            replays,
            variants,
            eras,
            machine: SUBJECTS.each_ref().map(|subject| (subject.machine)(machine)),
        }
    }

    /// Returns true if there are several replays.
    pub(super) fn is_known(&self) -> bool {
        self.replays > 1
    }

    /// Returns the mean and standard deviation of a subject in an era.
    pub(super) fn spread(&self, era: usize, subject: usize) -> Spread {
        self.eras
            .get(era)
            .map_or(Spread::default(), |of_era| Spread::of(of_era.iter().map(|values| values[subject])))
    }

    /// Returns the mean and standard deviation of each subject in an era and in the next era.
    pub(super) fn both(&self, era: usize) -> Vec<(Spread, Spread)> {
        let of = |subject| (self.spread(era, subject), self.spread(era + 1, subject));
        (0..SUBJECTS.len()).map(of).collect()
    }

    /// Returns the change of every subject from an era to the next era.
    pub(super) fn changes(&self, era: usize) -> Vec<Change> {
        let both = self.both(era).into_iter().zip(&SUBJECTS);
        both.map(|((before, after), subject)| Change::new(subject, before, after)).collect()
    }

    /// Returns the mean and standard deviation of each subject, with a column for each era and one for the machine.
    pub fn table(&self) -> Table {
        let columns = self.variants.iter().cloned().chain([MACHINE.to_owned()]);
        let title =
            format!("Noise: {} replicates of each era (replays with jittered daemon wake-ups)", self.replays);
        let mut table = Table::new(title, columns.collect());
        for (number, subject) in SUBJECTS.iter().enumerate() {
            let spreads: Vec<_> = (0..self.eras.len()).map(|era| self.spread(era, number)).collect();
            let machine = self.machine[number].map_or(Cell::Empty, Cell::Count);
            let means = spreads.iter().map(|spread| Cell::Real(spread.mean)).chain([machine]);
            table.push(subject.name, "mean", subject.unit, means.collect());
            let deviations = spreads.iter().map(|spread| spread.sd.map_or(Cell::Empty, Cell::Real));
            table.push(
                subject.name,
                "standard deviation",
                subject.unit,
                deviations.chain([Cell::Empty]).collect(),
            );
        }
        table
    }
}

impl Replicates {
    /// Returns a row for each variant and subject, and for each value of the machine.
    pub(super) fn rows(&self) -> Vec<MeasuredRow> {
        let mut rows = Vec::new();
        for (number, subject) in SUBJECTS.iter().enumerate() {
            let row = |variant: &str, value: f64| MeasuredRow {
                variant: variant.to_owned(),
                group: GROUP.to_owned(),
                measure: subject.name.to_owned(),
                unit: subject.unit.to_owned(),
                value,
                sd: None,
                replays: None,
            };
            for (era, variant) in self.variants.iter().enumerate() {
                let Spread { mean, sd } = self.spread(era, number);
                rows.push(MeasuredRow { sd, replays: Some(self.replays), ..row(variant, mean) });
            }
            rows.extend(self.machine[number].map(|value| row(MACHINE, value as f64)));
        }
        rows
    }
}

/// Returns the mean of a count as a cell of a table.
pub(super) fn cell(mean: f64) -> Cell {
    if mean >= 100.0 || mean.fract() == 0.0 { Cell::Count(mean.round() as u64) } else { Cell::Real(mean) }
}

/// Returns the jitter of each of `replays` replicates, in events. The first has none.
pub(crate) fn shifts(replays: u32) -> impl Iterator<Item = u32> {
    let replays = replays.clamp(1, MOST_SHIFTS);
    (0..replays).map(move |number| number * EVENTS_PER_WAKE_UP / replays)
}

/// Returns the name of each subject with its mean and standard deviation over the replays of one variant.
pub(crate) fn spreads(replays: &[Values]) -> impl Iterator<Item = (&'static str, Cell, Cell)> {
    SUBJECTS.iter().enumerate().map(|(number, subject)| {
        let spread = Spread::of(replays.iter().map(|values| values[number]));
        (subject.name, Cell::Real(spread.mean), spread.sd.map_or(Cell::Empty, Cell::Real))
    })
}

/// Serializes the number of replays, and the table.
impl Serialize for Replicates {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Document {
            replays: u32,
            table: Table,
        }
        Document { replays: self.replays, table: self.table() }.serialize(serializer)
    }
}
