//! The baseline for eras that move pages in the background: Linux with proactive compaction, at equal cost.
//!
//! Background moves increase the number of free pageblocks. For a fair comparison, Linux compacts with
//! `vm.compaction_proactiveness` 100. Both sides may use the same share of a CPU, and a move takes the same time and
//! fails as often.

use freehold::Era;
use freehold_measure::{Cell, Table};
use serde::Serialize;

use super::change::Spread;
use super::replicates::{Replicates, cell};
use super::subjects::{SUBJECTS, Values};
use crate::recorded::{MOVE_PARTS, MoveCost};
use crate::replay::{Background, CPU_SHARE, Options};

/// The era with proactive compaction.
pub(super) const ERA: Era = Era::Linux7_3;

/// The rows, by the names of their subjects. The summary shows the first three.
const ROWS: [&str; 6] = [
    "free pageblocks at the end",
    "free pageblocks, mean over time",
    "pages moved",
    "mixed pageblocks at the end",
    "huge pages refused",
    "zone lock holds",
];

/// Linux with proactive compaction, with the time budget of the eras that move pages in the background.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ProactiveBaseline {
    /// The cost of moving pages, the same for every era.
    pub moves: MoveCost,
    /// The value of each subject in each replay.
    #[serde(skip)]
    pub(super) replays: Vec<Values>,
}

impl ProactiveBaseline {
    /// Returns the replay options of the baseline, if its era is replayed with `options`.
    pub(super) fn options(options: Options) -> Options {
        Options { background: Background::ProactiveCompaction, ..options }
    }

    /// Returns true if the baseline was replayed.
    pub(super) fn is_reported(&self) -> bool {
        !self.replays.is_empty()
    }

    /// Returns the time budget and the cost of a move as text.
    pub(super) fn price(&self) -> String {
        let MoveCost { ns_a_page, fails_of_1024, is_recorded } = self.moves;
        format!(
            "background moves: {} % of a CPU, {:.1} µs a page, {:.1} % fail{}",
            100 / CPU_SHARE,
            ns_a_page as f64 / 1000.0,
            f64::from(fails_of_1024) * 100.0 / f64::from(MOVE_PARTS),
            if is_recorded { ", as recorded" } else { "" }
        )
    }

    /// Returns the spread of a subject in three variants: the era of the baseline without background moves, the
    /// baseline, and the era `freehold`.
    fn spreads(&self, replicates: &Replicates, subject: usize) -> [Spread; 3] {
        let at = |era: Era| Era::COMPARED.iter().position(|&other| other == era).unwrap_or(0);
        let own = Spread::of(self.replays.iter().map(|values| values[subject]));
        [replicates.spread(at(ERA), subject), own, replicates.spread(at(Era::Freehold), subject)]
    }

    /// Returns one sentence that compares the baseline with the era `freehold`.
    pub(super) fn sentence(&self, replicates: &Replicates) -> Option<String> {
        let spread = |name: &str| {
            let number = SUBJECTS.iter().position(|subject| subject.name == name)?;
            Some(self.spreads(replicates, number))
        };
        let reported: Option<Vec<_>> = ROWS[..3].iter().map(|name| spread(name)).collect();
        let reported = reported.filter(|_| self.is_reported())?;
        let of = |side: usize| reported.iter().map(move |spreads| spreads[side].text()).collect::<Vec<_>>();
        let ([end, mean, moved], ours) = (<[String; 3]>::try_from(of(1)).ok()?, of(2).join(", "));
        let (proactive_baseline, tidying) = (ERA.name(), Era::Freehold.name());
        Some(format!(
            "{proactive_baseline} with proactive compaction: {end} free pageblocks at the end, {mean} over time, \
             {moved} pages moved; {tidying}: {ours}."
        ))
    }

    /// Returns a table of the three variants of [`Self::spreads`].
    pub(super) fn table(&self, replicates: &Replicates) -> Table {
        let name = ERA.name();
        let columns = [name.to_owned(), format!("{name}, proactive"), Era::Freehold.name().to_owned()];
        let mut table = Table::new(format!("At equal cost: {}", self.price()), columns.to_vec());
        for (number, subject) in
            SUBJECTS.iter().enumerate().filter(|(_, subject)| ROWS.contains(&subject.name))
        {
            let spreads = self.spreads(replicates, number);
            let means = spreads.iter().map(|spread| cell(spread.mean)).collect();
            table.push(subject.name, "mean", subject.unit, means);
            let deviations = spreads.iter().map(|spread| spread.sd.map_or(Cell::Empty, Cell::Real));
            table.push(subject.name, "standard deviation", subject.unit, deviations.collect());
        }
        table
    }
}
