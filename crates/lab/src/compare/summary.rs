//! The summary of a comparison: the recorded machine, the changes by era, their cost, the agreement with the machine.

use freehold::Era;
use freehold_measure::{Table, grouped};
use serde::Serialize;

use super::change::{Change, reported};
use super::comparison::Comparison;
use super::replicates::cell;
use super::sentences::step_name;
use super::subjects::{Kind, SUBJECTS};
use crate::recorded::Recorded;
use crate::start::free_pageblocks;

/// The summary of a comparison. Text and page render the same content.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Summary {
    /// The sections in reading order.
    pub sections: Vec<Section>,
}

/// One section of a summary.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Section {
    /// The title.
    pub title: String,
    /// Sentences about the whole section.
    pub lines: Vec<String>,
    /// Lists of clauses with their headings, the most important clause of each list first.
    pub lists: Vec<(String, Vec<String>)>,
    /// A table of numbers.
    pub table: Option<Table>,
}

impl Section {
    fn of_lines(title: &str, lines: Vec<String>) -> Self {
        Self { title: title.to_owned(), lines, ..Self::default() }
    }
}

impl Comparison {
    /// Returns the summary.
    pub fn summary(&self) -> Summary {
        let mut sections = vec![Section::of_lines("Recorded machine", machine(self)), steps(self)];
        sections.extend(costs(self));
        let price = format!("At equal cost ({})", self.proactive_baseline.price());
        sections.extend(
            self.proactive_baseline
                .sentence(&self.replicates)
                .map(|line| Section::of_lines(&price, vec![line])),
        );
        sections.push(Section::of_lines("Agreement with the machine", agreement(self)));
        Summary { sections }
    }
}

/// Returns sentences on the recorded machine.
fn machine(comparison: &Comparison) -> Vec<String> {
    let Recorded { events, .. } = &comparison.recorded;
    let failed = comparison.recorded.failures.iter().sum::<u64>();
    let fallbacks = |count| comparison.recorded.has_fallbacks.then_some(count);
    let did = [
        ("pageblocks claimed", fallbacks(comparison.recorded.claims)),
        ("blocks stolen", fallbacks(comparison.recorded.steals)),
        ("requests failed", Some(failed)),
        ("huge pages allocated", events.thp_fault_alloc),
        ("huge pages refused", events.thp_fault_fallback),
        ("requests that compacted", events.compact_stall),
        ("pages moved", events.pgmigrate_success),
        ("requests that reclaimed", events.allocstall),
        ("pages reclaimed", sum(events.pgsteal_kswapd, events.pgsteal_direct)),
        ("pages swapped out", events.pswpout),
    ];
    let did = did.into_iter().filter_map(|(what, count)| Some((what, count.filter(|&count| count > 0)?)));
    let did: Vec<_> = did.map(|(what, count)| format!("{} {what}", grouped(count))).collect();
    let mut lines = Vec::new();
    if did.is_empty() {
        lines.push("No fallback, no reclaim and no compaction was recorded.".to_owned());
    } else {
        lines.push(format!("{}.", did.join(", ")));
    }
    let best = grouped(comparison.hindsight.end.free_pageblocks);
    let bound = format!("upper bound without moving pages from the start: {best}");
    lines.push(match &comparison.end {
        Some(end) => {
            let free = grouped(free_pageblocks(&comparison.machine, end));
            format!("Free pageblocks at the end: {free}; {bound}.")
        }
        None => format!("Free pageblocks at the end: not recorded; {bound}."),
    });
    lines
}

fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    Some(a?.saturating_add(b.unwrap_or(0)))
}

/// Returns the changes from each era to the next.
fn steps(comparison: &Comparison) -> Section {
    let replicates = &comparison.replicates;
    let title = if replicates.is_known() {
        format!("Changes by era (means of {} replays ± standard deviation)", replicates.replays)
    } else {
        "Changes by era (one replay, noise unknown)".to_owned()
    };
    let list = |era: usize| {
        let reported = reported(&replicates.changes(era), &[Kind::Outcome]);
        (step_name(era), reported.iter().map(Change::clause).collect::<Vec<_>>())
    };
    let lists = (0..Era::COMPARED.len() - 1).map(list).map(|(name, mut clauses)| {
        if clauses.is_empty() {
            clauses.push("no outcome changes beyond noise; costs are below".to_owned());
        }
        (name, clauses)
    });
    Section { title, lists: lists.collect(), ..Section::default() }
}

/// Returns the costs that differ between eras by more than noise; `None` if there are none.
fn costs(comparison: &Comparison) -> Option<Section> {
    let replicates = &comparison.replicates;
    let columns = Era::COMPARED.map(|era| era.name().to_owned());
    let mut table = Table::new("", columns.to_vec());
    let differ: Vec<_> = (0..Era::COMPARED.len() - 1)
        .flat_map(|era| reported(&replicates.changes(era), &[Kind::Cost]))
        .collect();
    for (number, subject) in SUBJECTS.iter().enumerate() {
        if differ.iter().any(|change| change.what == subject.name) {
            let of = |era| cell(replicates.spread(era, number).mean);
            table.push("", subject.name, "", (0..Era::COMPARED.len()).map(of).collect());
        }
    }
    (!table.rows.is_empty()).then(|| Section {
        title: "Costs".to_owned(),
        table: Some(table),
        ..Section::default()
    })
}

/// Returns sentences on the agreement between replay and machine.
fn agreement(comparison: &Comparison) -> Vec<String> {
    let mut lines = match &comparison.trust {
        Some(trust) => trust.lines(),
        None => vec![comparison.trust_line()],
    };
    lines.push(comparison.start.sentence());
    let lost: u64 = comparison.gaps.cpus.iter().map(|cpu| cpu.events).sum();
    if lost > 0 {
        let uncertain: u64 = comparison.gaps.cpus.iter().map(|cpu| cpu.uncertain_pages).sum();
        lines.push(format!(
            "lost events: {}; up to {} pages may be free or in use at the end",
            grouped(lost),
            grouped(uncertain)
        ));
    }
    lines
}
