//! Some variants over the same trace, and what is chance.

use freehold_measure::Table;
use freehold_trace::PageTypeInfo;

use super::measured_row::measured_rows;
use super::replicates::Replicates;
use super::tables::Shown;
use crate::columns::Columns;
use crate::recorded::Recorded;
use crate::replay::Measures;
use crate::start::Machine;

/// What was measured of some variants over the same trace, and what the machine itself did.
#[derive(Clone, PartialEq, Debug)]
pub struct Measured {
    pub(super) machine: Machine,
    pub(super) end: Option<PageTypeInfo>,
    /// The variants in order.
    pub eras: Vec<Measures>,
    /// What the machine did.
    pub recorded: Recorded,
    /// What is chance.
    pub replicates: Replicates,
}

impl Measured {
    fn shown(&self) -> Shown<'_> {
        Shown {
            machine: &self.machine,
            end: self.end.as_ref(),
            eras: &self.eras,
            recorded: &self.recorded,
            distance: None,
        }
    }

    /// Returns every table, the most important first; the machine has a column too.
    pub fn tables(&self) -> Vec<Table> {
        let shown = self.shown();
        let mut tables = vec![shown.overview(), shown.free_blocks(), shown.fragmentation()];
        tables.extend(self.replicates.is_known().then(|| self.replicates.table()));
        tables
    }

    /// Returns every measure of every variant and of the machine, in long form.
    pub fn columns(&self) -> Columns {
        measured_rows(&self.shown().overview(), self.replicates.rows())
    }
}
