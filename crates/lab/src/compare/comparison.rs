//! All eras over the same trace, and the newest one without each of its systems and rules.

use freehold::Era;
use freehold_measure::Table;
use freehold_trace::PageTypeInfo;
use serde::{Serialize, Serializer};

use super::chance::Chance;
use super::distance::EndDistance;
use super::hindsight::Hindsight;
use super::sentences::sentences;
use super::switched_off::{BASE, Without, turned_off};
use super::tables::Shown;
use super::trust::Trust;
use crate::error::LabError;
use crate::recorded::{Gaps, Recorded};
use crate::replay::{Lab, Measures, Options, Replay, Variant, nearest_era};
use crate::start::{Machine, StartReport};

/// Why it cannot be told how far a replay may be believed.
pub const UNTOLD: &str = "how far this may be believed cannot be told: the trace does not name the release of its kernel, \
     so no era is known to be the machine's own; import it again with --kernel-release (uname -r, such as 6.18.3)";

/// How a comparison is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CompareOptions {
    /// How each era is replayed.
    pub replay: Options,
    /// The number of further replays of each era that tell what is chance, at most
    /// [`MOST_SHIFTS`](super::MOST_SHIFTS); `None` for none.
    pub chance: Option<u32>,
}

impl From<Options> for CompareOptions {
    fn from(replay: Options) -> Self {
        Self { replay, chance: None }
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
    /// [`Era::Freehold`] without each system and rule, one at a time.
    pub without: Vec<Without>,
    /// What the machine did.
    pub recorded: Recorded,
    /// Places at which events are missing, and what they make uncertain.
    pub gaps: Gaps,
    /// The upper bound of what any placement could have done.
    pub hindsight: Hindsight,
    /// The end of the era nearest to the recorded kernel, against the machine's own.
    pub distance: Option<EndDistance>,
    /// How far the era nearest to the recorded kernel may be believed.
    pub trust: Option<Trust>,
    /// What is chance, if [`CompareOptions::chance`] asked for it.
    pub chance: Option<Chance>,
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

    /// Returns the newest era with and without each system and each rule of placement, all else equal.
    pub fn systems(&self) -> Table {
        self.shown().systems(&self.without)
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

    /// Returns every table with a short name, the most important first.
    pub fn named_tables(&self) -> Vec<(&'static str, Table)> {
        let mut tables = vec![
            ("eras", self.overview()),
            ("placement", self.placement()),
            ("systems", self.systems()),
            ("free-blocks", self.free_blocks()),
            ("fragmentation", self.fragmentation()),
        ];
        tables.extend(self.chance.as_ref().map(|chance| ("chance", chance.table())));
        tables.extend(self.distance.as_ref().map(|distance| ("distance", distance.table())));
        tables
    }

    /// Returns every table, the most important first.
    pub fn tables(&self) -> Vec<Table> {
        self.named_tables().into_iter().map(|(_, table)| table).collect()
    }

    /// Returns one line on how far the replays may be believed, or why that cannot be told.
    pub fn trust_line(&self) -> String {
        self.trust.as_ref().map_or_else(|| UNTOLD.to_owned(), ToString::to_string)
    }

    /// Returns one sentence for each CPU that lost events, and one for each difference that matters.
    pub fn sentences(&self) -> Vec<String> {
        let gaps = self.eras.last().map(|newest| self.gaps.sentences(&newest.followed));
        let differences = sentences(&self.eras, &self.without, self.distance.as_ref());
        gaps.into_iter().flatten().chain(differences).collect()
    }
}

/// Serializes the data, and the tables and sentences that follow from it.
impl Serialize for Comparison {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Document<'c> {
            start: &'c StartReport,
            sentences: Vec<String>,
            overview: Table,
            systems: Table,
            free_blocks: Table,
            fragmentation: Table,
            placement: Table,
            hindsight: &'c Hindsight,
            distance: Option<&'c EndDistance>,
            trust: Option<&'c Trust>,
            eras: &'c [Measures],
            without: &'c [Without],
            chance: Option<&'c Chance>,
            recorded: &'c Recorded,
            gaps: &'c Gaps,
        }
        let document = Document {
            start: &self.start,
            sentences: self.sentences(),
            overview: self.overview(),
            systems: self.systems(),
            free_blocks: self.free_blocks(),
            fragmentation: self.fragmentation(),
            placement: self.placement(),
            hindsight: &self.hindsight,
            distance: self.distance.as_ref(),
            trust: self.trust.as_ref(),
            eras: &self.eras,
            without: &self.without,
            chance: self.chance.as_ref(),
            recorded: &self.recorded,
            gaps: &self.gaps,
        };
        document.serialize(serializer)
    }
}

impl Lab<'_> {
    /// Replays the trace through every era, and through the newest one without each system and rule.
    ///
    /// # Errors
    /// As [`Lab::replay`].
    pub fn compare(&self, options: CompareOptions) -> Result<Comparison, LabError> {
        let eras = Era::ALL.map(Variant::new);
        let without = turned_off().map(|switch| Variant::new(BASE).without(switch));
        let all: Vec<_> = eras.iter().cloned().chain(without).collect();
        let replays = self.replay_all(&all, options.replay)?;
        let mut measures = replays.into_iter().map(|replay| replay.measures);
        let eras: Vec<_> = measures.by_ref().take(eras.len()).collect();
        let without: Vec<_> = turned_off()
            .zip(measures)
            .map(|(switch, measures)| Without { switch: switch.name(), measures })
            .collect();
        let recorded = self.recorded();
        let distance = self.end_distance(&eras);
        let trust = Trust::new(self, &eras, &recorded, distance.as_ref());
        let hindsight = self.hindsight();
        let chance = options.chance.map(|replays| self.chance(replays, options.replay)).transpose()?;
        Ok(Comparison {
            machine: self.machine.clone(),
            end: self.end().cloned(),
            start: self.start.report.clone(),
            eras,
            without,
            gaps: self.gaps(),
            recorded,
            hindsight,
            distance,
            trust,
            chance,
        })
    }

    /// Returns every table of one replay, the most important first; the machine has a column too.
    pub fn describe(&self, replay: &Replay) -> Vec<Table> {
        let recorded = self.recorded();
        let shown = Shown {
            machine: &self.machine,
            end: self.end(),
            eras: std::slice::from_ref(&replay.measures),
            recorded: &recorded,
            distance: None,
        };
        vec![shown.overview(), shown.free_blocks(), shown.fragmentation()]
    }

    /// Returns the distance of the nearest era's end from the machine's; `None` if the kernel or the end is not
    /// known.
    fn end_distance(&self, eras: &[Measures]) -> Option<EndDistance> {
        let era = nearest_era(&self.trace.origin.kernel_release)?;
        let at = Era::ALL.into_iter().position(|other| other == era)?;
        EndDistance::new(&self.machine, &era.into(), &eras[at], self.end()?)
    }
}
