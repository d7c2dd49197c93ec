//! All eras over the same trace, and each of the four systems with and without.

use freehold::Era;
use freehold_measure::Table;
use serde::Serialize;

use super::chance::Chance;
use super::distance::EndDistance;
use super::hindsight::Hindsight;
use super::sentences::sentences;
use super::tables::{against_hindsight, fragmentation, free_blocks, overview, with_and_without};
use super::trust::Trust;
use super::without::{BASE, Without, turned_off};
use crate::error::LabError;
use crate::recorded::{Gaps, Recorded};
use crate::replay::{Lab, Measures, Options, Replay, Variant, nearest_era};
use crate::start::StartReport;

/// All eras over the same trace, and each system and rule with and without.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Comparison {
    /// How well the start state agrees with what was recorded.
    pub start: StartReport,
    /// One sentence for each difference that matters.
    pub sentences: Vec<String>,
    /// A column for each era and one for the machine, a row for each measure.
    pub overview: Table,
    /// Each of the four systems and each rule of placement with and without, all else equal.
    pub systems: Table,
    /// Free blocks at the end by zone, type and order.
    pub free_blocks: Table,
    /// `unusable_index` and `extfrag_index` by zone and order.
    pub fragmentation: Table,
    /// Whole pageblocks free and mixed pageblocks, against the best of all placements.
    pub placement: Table,
    /// The best that any placement could have done.
    pub hindsight: Hindsight,
    /// For the era nearest to the recorded kernel: its end against the machine's own.
    pub distance: Option<EndDistance>,
    /// How far the era nearest to the recorded kernel may be believed.
    pub trust: Option<Trust>,
    /// The eras in order.
    pub eras: Vec<Measures>,
    /// [`Era::Freehold`] without one system or rule each.
    pub without: Vec<Without>,
    /// What of it is chance, where it was asked for: see [`Lab::chance`].
    pub chance: Option<Chance>,
    /// What the machine did.
    pub recorded: Recorded,
    /// Places at which events are missing, and what they make uncertain.
    pub gaps: Gaps,
}

impl Comparison {
    /// Every table, the most important first, with a short name.
    pub fn named_tables(&self) -> Vec<(&'static str, Table)> {
        let mut tables = vec![
            ("eras", self.overview.clone()),
            ("placement", self.placement.clone()),
            ("systems", self.systems.clone()),
            ("free-blocks", self.free_blocks.clone()),
            ("fragmentation", self.fragmentation.clone()),
        ];
        tables.extend(self.chance.as_ref().map(|chance| ("chance", chance.table.clone())));
        tables.extend(self.distance.as_ref().map(|distance| ("distance", distance.table())));
        tables
    }

    /// The tables alone.
    pub fn tables(&self) -> Vec<Table> {
        self.named_tables().into_iter().map(|(_, table)| table).collect()
    }
}

impl Lab<'_> {
    /// Replays the trace through every era and without each system and rule.
    ///
    /// # Errors
    /// As [`Lab::replay`].
    pub fn compare(&self, options: Options) -> Result<Comparison, LabError> {
        let eras = Era::ALL.map(Variant::new);
        let without = turned_off().map(|switch| Variant::new(BASE).without(switch));
        let all: Vec<_> = eras.iter().cloned().chain(without).collect();
        let mut measures = self.replay_all(&all, options)?.into_iter().map(|replay| replay.measures);
        let eras: Vec<_> = measures.by_ref().take(eras.len()).collect();
        let without: Vec<_> = turned_off()
            .zip(measures)
            .map(|(switch, measures)| Without { switch: switch.name(), measures })
            .collect();
        let recorded = self.recorded();
        let distance = self.end_distance(&eras);
        let hindsight = self.hindsight();
        let release = &self.trace.origin.kernel_release;
        let trust = Trust::new(&self.machine, release, &eras, &recorded, distance.as_ref());
        let gaps = self.gaps();
        let uncertain = eras.last().map(|newest| gaps.sentences(&newest.followed));
        let sentences = uncertain.into_iter().flatten().chain(sentences(&eras, &without, distance.as_ref()));
        let sentences = sentences.collect();
        Ok(Comparison {
            start: self.start.report.clone(),
            sentences,
            overview: overview(self, &eras, &recorded, distance.as_ref()),
            placement: against_hindsight(self, &eras, &hindsight),
            hindsight,
            systems: with_and_without(&eras, &without),
            free_blocks: free_blocks(self, &eras),
            fragmentation: fragmentation(self, &eras),
            trust,
            distance,
            eras,
            without,
            chance: None,
            recorded,
            gaps,
        })
    }

    /// Every table of one replay, the most important first; the machine has a column too.
    pub fn describe(&self, replay: &Replay) -> Vec<Table> {
        let one = std::slice::from_ref(&replay.measures);
        let recorded = self.recorded();
        vec![overview(self, one, &recorded, None), free_blocks(self, one), fragmentation(self, one)]
    }

    /// For the era nearest to the recorded kernel: its end against the machine's own.
    fn end_distance(&self, eras: &[Measures]) -> Option<EndDistance> {
        let era = nearest_era(&self.trace.origin.kernel_release)?;
        let end = self.trace.ending?.snapshot.as_ref()?;
        let at = Era::ALL.into_iter().position(|other| other == era)?;
        EndDistance::new(&self.machine, &era.into(), &eras[at], end)
    }
}
