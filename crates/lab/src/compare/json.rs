//! A comparison as JSON.

use freehold::Era;
use freehold_measure::Table;
use serde::{Serialize, Serializer};

use super::attributed::Attributed;
use super::change::{ALL_KINDS, Change, reported};
use super::comparison::Comparison;
use super::distance::EndDistance;
use super::hindsight::Hindsight;
use super::proactive_baseline::ProactiveBaseline;
use super::replicates::Replicates;
use super::summary::Summary;
use super::trust::Trust;
use crate::recorded::{Gaps, Recorded};
use crate::replay::Measures;
use crate::start::StartReport;

/// Serializes the data, with the tables and sentences computed from it.
impl Serialize for Comparison {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Without<'c> {
            switch: &'static str,
            measures: &'c Measures,
        }
        #[derive(Serialize)]
        struct Step {
            before: &'static str,
            after: &'static str,
            changes: Vec<Change>,
        }
        #[derive(Serialize)]
        struct Document<'c> {
            start: &'c StartReport,
            summary: Summary,
            steps: Vec<Step>,
            sentences: Vec<String>,
            overview: Table,
            systems: Table,
            free_blocks: Table,
            fragmentation: Table,
            placement: Table,
            hindsight: &'c Hindsight,
            proactive_baseline: &'c ProactiveBaseline,
            price: Table,
            distance: Option<&'c EndDistance>,
            trust: Option<&'c Trust>,
            eras: &'c [Measures],
            without: Vec<Without<'c>>,
            attributed: &'c [Attributed],
            replicates: Option<&'c Replicates>,
            recorded: &'c Recorded,
            gaps: &'c Gaps,
        }
        let without = self
            .attributed
            .iter()
            .filter_map(|part| Some(Without { switch: part.step.part, measures: part.taken_out.as_ref()? }));
        let steps = Era::COMPARED.windows(2).enumerate().map(|(era, eras)| Step {
            before: eras[0].name(),
            after: eras[1].name(),
            changes: reported(&self.replicates.changes(era), &ALL_KINDS),
        });
        let document = Document {
            start: &self.start,
            summary: self.summary(),
            steps: steps.collect(),
            sentences: self.sentences(),
            overview: self.overview(),
            systems: self.systems(),
            free_blocks: self.free_blocks(),
            fragmentation: self.fragmentation(),
            placement: self.placement(),
            hindsight: &self.hindsight,
            proactive_baseline: &self.proactive_baseline,
            price: self.proactive_baseline.table(&self.replicates),
            distance: self.distance.as_ref(),
            trust: self.trust.as_ref(),
            eras: &self.eras,
            without: without.collect(),
            attributed: &self.attributed,
            replicates: self.replicates.is_known().then_some(&self.replicates),
            recorded: &self.recorded,
            gaps: &self.gaps,
        };
        document.serialize(serializer)
    }
}
