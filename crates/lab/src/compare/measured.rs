//! Some variants on the same trace, with replicates.

use freehold_measure::Table;
use freehold_trace::PageTypeInfo;

use super::measured_row::measured_rows;
use super::replicates::Replicates;
use super::tables::Shown;
use crate::columns::Columns;
use crate::recorded::Recorded;
use crate::replay::Measures;
use crate::start::RecordedMachine;

/// The measures of some variants on the same trace, and of the recorded machine.
#[derive(Clone, PartialEq, Debug)]
pub struct Measured {
    pub(super) machine: RecordedMachine,
    pub(super) end: Option<PageTypeInfo>,
    /// The measures of each variant, in the given order.
    pub eras: Vec<Measures>,
    /// The measures of the recorded machine.
    pub recorded: Recorded,
    /// The replicates of each variant, from which the noise follows.
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

    /// Returns every table, the most important first, with a column for the machine.
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
