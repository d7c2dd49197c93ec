//! All eras over the same trace, and what each part of an era does alone.

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
use crate::start::{Machine, StartReport};

/// Why it cannot be told how far a replay may be believed.
pub const UNKNOWN_RELEASE: &str = "how far this may be believed cannot be told: the trace does not name the release of its kernel, \
     so no era is known to be the machine's own; import it again with --kernel-release (uname -r, such as 6.18.3)";

/// How a comparison is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CompareOptions {
    /// How each era is replayed.
    pub replay: Options,
    /// The number of replays of each era that tell what is chance, at most [`MOST_SHIFTS`](super::MOST_SHIFTS); 1 for
    /// none but the one that is measured.
    pub replicates: u32,
    /// Whether each part of an era is also replayed alone on the era before, and taken out of its own era.
    pub attribution: bool,
    /// Whether the machine is quiet enough to tell times of lock holds.
    pub times: bool,
}

impl CompareOptions {
    /// Returns the options of the answer in short: neither maps and times nor parts of eras.
    pub fn in_short(replicates: u32) -> Self {
        let replay = Options { runs: 1, detail: SampleDetail::Totals, ..Options::default() };
        Self { replay, replicates, attribution: false, times: false }
    }
}

/// Everything but chance.
impl From<Options> for CompareOptions {
    fn from(replay: Options) -> Self {
        Self { replay, replicates: 1, attribution: true, times: true }
    }
}

/// What was measured of all eras over the same trace, and what the machine itself did.
///
/// The tables and sentences follow from it. Its JSON also has them.
#[derive(Clone, PartialEq, Debug)]
pub struct Comparison {
    /// The recorded machine.
    pub machine: Machine,
    /// The machine's own free blocks at its end; `None` if they were not recorded.
    pub end: Option<PageTypeInfo>,
    /// How well the start state agrees with what was recorded.
    pub start: StartReport,
    /// The eras in order.
    pub eras: Vec<Measures>,
    /// What each part of each era does with nothing else changed, the oldest era first; none if
    /// [`CompareOptions::attribution`] did not ask for it.
    pub attributed: Vec<Attributed>,
    /// What the machine did.
    pub recorded: Recorded,
    /// Places at which events are missing, and what they make uncertain.
    pub gaps: Gaps,
    /// The upper bound of what any placement could have done.
    pub hindsight: Hindsight,
    /// What Linux does with the time that rules which move pages have.
    pub proactive_baseline: ProactiveBaseline,
    /// The end of the era nearest to the recorded kernel, against the machine's own.
    pub distance: Option<EndDistance>,
    /// How far the era nearest to the recorded kernel may be believed.
    pub trust: Option<Trust>,
    /// What is chance.
    pub replicates: Replicates,
    /// Whether times of lock holds are shown.
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

    /// Returns every variant that differs from an era by one system or rule, with a column for each.
    pub fn systems(&self) -> Table {
        Shown::systems(&self.attributed)
    }

    /// Returns for each part of an era what changes where it is alone on the era before, and where it is taken out of
    /// its own era.
    pub fn attribution(&self) -> Vec<Table> {
        self.attributed.iter().map(|part| Shown::attribution(&self.attribution_input(), part)).collect()
    }

    /// Returns the whole pageblocks that are free and the mixed pageblocks, against the best of all placements.
    pub fn placement(&self) -> Table {
        self.shown().placement(&self.hindsight)
    }

    /// Returns the free blocks at the end by zone, type and order.
    pub fn free_blocks(&self) -> Table {
        self.shown().free_blocks()
    }

    /// Returns `unusable_index` and `extfrag_index` by zone and order.
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

    /// Returns every table for people: instead of all variants side by side a table for each part of an era, and
    /// without the rows that tell nothing.
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

    /// Returns one line on how far the replays may be believed, or why that cannot be told.
    pub fn trust_line(&self) -> String {
        self.trust.as_ref().map_or_else(|| UNKNOWN_RELEASE.to_owned(), ToString::to_string)
    }

    /// Returns one sentence for each CPU that lost events, and one for each difference that matters.
    pub fn sentences(&self) -> Vec<String> {
        let gaps = self.eras.last().map(|newest| self.gaps.sentences(&newest.followed));
        let differences = sentences(&self.attribution_input(), self.distance.as_ref());
        gaps.into_iter().flatten().chain(differences).collect()
    }
}
