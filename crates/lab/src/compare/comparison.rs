//! All eras on the same trace, and the effect of each part of an era alone.

use freehold_measure::Table;
use freehold_trace::PageTypeInfo;

use super::attributed::{Attributed, AttributionInput};
use super::distance::EndDistance;
use super::hindsight::Hindsight;
use super::measured_row::measured_rows;
use super::proactive_baseline::ProactiveBaseline;
use super::replicates::Replicates;
use super::sentences::sentences;
use super::tables::{Shown, leave_out};
use super::trust::Trust;
use crate::columns::Columns;
use crate::recorded::{Gaps, Recorded};
use crate::replay::{Measures, Options, SampleDetail};
use crate::start::{RecordedMachine, StartReport};

/// The message if the agreement between replay and machine is unknown.
pub const UNKNOWN_RELEASE: &str = "agreement with the machine unknown: the trace does not name the release of its \
     kernel, so no era can be compared with the machine; import it again with --kernel-release (uname -r, such as \
     6.18.3)";

/// The options of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CompareOptions {
    /// The options of each replay.
    pub replay: Options,
    /// The number of replicates of each era (replays with jittered daemon wake-ups), from 1 to
    /// [`MOST_SHIFTS`](super::MOST_SHIFTS). With 1 the noise is unknown.
    pub replicates: u32,
    /// True to replay each part of an era also alone on the previous era, and its own era without the part.
    pub attribution: bool,
    /// True to show times of lock holds. The replaying machine must be idle.
    pub times: bool,
}

impl CompareOptions {
    /// Returns the options of a summary: without maps, times and parts of eras.
    pub fn in_short(replicates: u32) -> Self {
        let replay = Options { runs: 1, detail: SampleDetail::Totals, ..Options::default() };
        Self { replay, replicates, attribution: false, times: false }
    }
}

/// The options of a full comparison with one replay of each era, so that the noise is unknown.
impl From<Options> for CompareOptions {
    fn from(replay: Options) -> Self {
        Self { replay, replicates: 1, attribution: true, times: true }
    }
}

/// The measures of all eras on the same trace, and of the recorded machine.
///
/// Methods compute tables and sentences from it. The JSON form contains them, too.
#[derive(Clone, PartialEq, Debug)]
pub struct Comparison {
    /// The recorded machine.
    pub machine: RecordedMachine,
    /// The free blocks of the machine at the end; `None` if they were not recorded.
    pub end: Option<PageTypeInfo>,
    /// The agreement of the start state with the recording.
    pub start: StartReport,
    /// The measures of each era, the oldest era first.
    pub eras: Vec<Measures>,
    /// The effect of each part of each era with nothing else changed, the oldest era first; empty without
    /// [`CompareOptions::attribution`].
    pub attributed: Vec<Attributed>,
    /// The measures of the recorded machine.
    pub recorded: Recorded,
    /// Places with lost events, and the pages that they make uncertain.
    pub gaps: Gaps,
    /// The upper bound over all placements.
    pub hindsight: Hindsight,
    /// Linux with proactive compaction, at equal cost with the eras that move pages in the background.
    pub proactive_baseline: ProactiveBaseline,
    /// The difference at the end between the machine and the era nearest to its kernel.
    pub distance: Option<EndDistance>,
    /// The agreement between the machine and the era nearest to its kernel.
    pub trust: Option<Trust>,
    /// The replicates of each era, from which the noise follows.
    pub replicates: Replicates,
    /// True if tables show times of lock holds.
    pub times: bool,
}

impl Comparison {
    fn shown(&self) -> Shown<'_> {
        Shown {
            machine: &self.machine,
            end: self.end.as_ref(),
            eras: &self.eras,
            recorded: &self.recorded,
            distance: self.distance.as_ref(),
        }
    }

    /// Returns a table with a column for each era and one for the machine, and a row for each measure.
    pub fn overview(&self) -> Table {
        self.shown().overview()
    }

    pub(super) fn attribution_input(&self) -> AttributionInput<'_> {
        AttributionInput {
            eras: &self.eras,
            attributed: &self.attributed,
            replicates: &self.replicates,
            order: self.machine.pageblock_order,
        }
    }

    /// Returns a table with a column for each variant that differs from an era by one system or rule.
    pub fn systems(&self) -> Table {
        Shown::systems(&self.attributed)
    }

    /// Returns a table for each part of an era: its effect alone on the previous era, and the effect of removing it
    /// from its own era.
    pub fn attribution(&self) -> Vec<Table> {
        self.attributed.iter().map(|part| Shown::attribution(&self.attribution_input(), part)).collect()
    }

    /// Returns the table of free and mixed pageblocks, next to the best possible placement.
    pub fn placement(&self) -> Table {
        self.shown().placement(&self.hindsight)
    }

    /// Returns the table of free blocks at the end by zone, type and order.
    pub fn free_blocks(&self) -> Table {
        self.shown().free_blocks()
    }

    /// Returns the table of `unusable_index` and `extfrag_index` by zone and order.
    pub fn fragmentation(&self) -> Table {
        self.shown().fragmentation()
    }

    /// Returns every measure of every era and of the machine, in long form.
    pub fn columns(&self) -> Columns {
        measured_rows(&self.overview(), self.replicates.rows())
    }

    /// Returns every table with a short name, the most important first.
    pub fn named_tables(&self) -> Vec<(&'static str, Table)> {
        let mut tables = vec![("eras", self.overview()), ("placement", self.placement())];
        tables.extend(
            self.proactive_baseline
                .is_reported()
                .then(|| ("price", self.proactive_baseline.table(&self.replicates))),
        );
        tables.extend((!self.attributed.is_empty()).then(|| ("systems", self.systems())));
        tables.extend([("free-blocks", self.free_blocks()), ("fragmentation", self.fragmentation())]);
        tables.extend(self.replicates.is_known().then(|| ("replicates", self.replicates.table())));
        tables.extend(self.distance.as_ref().map(|distance| ("distance", distance.table())));
        tables
    }

    /// Returns every table, the most important first.
    pub fn tables(&self) -> Vec<Table> {
        self.named_tables().into_iter().map(|(_, table)| table).collect()
    }

    /// Returns every table for people: with one table for each part of an era instead of one for all variants, and
    /// without rows of zeros.
    pub fn shown_tables(&self) -> Vec<Table> {
        let tables = self
            .named_tables()
            .into_iter()
            .flat_map(|(name, table)| if name == "systems" { self.attribution() } else { vec![table] });
        let mut tables: Vec<_> = tables.collect();
        for table in &mut tables {
            leave_out(table, self.times);
        }
        tables.retain(|table| !table.rows.is_empty());
        tables
    }

    /// Returns one line on the agreement between replay and machine, or [`UNKNOWN_RELEASE`].
    pub fn trust_line(&self) -> String {
        self.trust.as_ref().map_or_else(|| UNKNOWN_RELEASE.to_owned(), ToString::to_string)
    }

    /// Returns one sentence for each CPU that lost events, and one for each reported difference.
    pub fn sentences(&self) -> Vec<String> {
        let gaps = self.eras.last().map(|newest| self.gaps.sentences(&newest.followed));
        let differences = sentences(&self.attribution_input(), self.distance.as_ref());
        gaps.into_iter().flatten().chain(differences).collect()
    }
}
