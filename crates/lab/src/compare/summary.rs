//! The answer in short: what the machine did, what each era would change, what that costs, how far to believe it.

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

/// The answer in short. Text and page render it, and add nothing.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Summary {
    /// The sections, in the order in which they are read.
    pub sections: Vec<Section>,
}

/// One section of a summary.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Section {
    /// The title.
    pub title: String,
    /// Sentences that belong to the whole section.
    pub lines: Vec<String>,
    /// Headed lists of clauses, each list with the most important clause first.
    pub lists: Vec<(String, Vec<String>)>,
    /// Numbers side by side.
    pub table: Option<Table>,
}

impl Section {
    fn of_lines(title: &str, lines: Vec<String>) -> Self {
        Self { title: title.to_owned(), lines, ..Self::default() }
    }
}

impl Comparison {
    /// Returns the answer in short.
    pub fn summary(&self) -> Summary {
        let mut sections = vec![Section::of_lines("What the machine did", machine(self)), steps(self)];
        sections.extend(costs(self));
        let price = format!("At the same price ({})", self.proactive_baseline.price());
        sections.extend(
            self.proactive_baseline
                .sentence(&self.replicates)
                .map(|line| Section::of_lines(&price, vec![line])),
        );
        sections.push(Section::of_lines("How far to believe it", belief(self)));
        Summary { sections }
    }
}

/// Returns sentences on what the recorded machine did.
fn machine(comparison: &Comparison) -> Vec<String> {
    let Recorded { events, .. } = &comparison.recorded;
    let failed = comparison.recorded.failures.iter().sum::<u64>();
    let fallbacks = |count| comparison.recorded.has_fallbacks.then_some(count);
    let did = [
        ("pageblocks claimed", fallbacks(comparison.recorded.claims)),
        ("blocks stolen", fallbacks(comparison.recorded.steals)),
        ("requests failed", Some(failed)),
        ("huge pages given", events.thp_fault_alloc),
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
    let most = format!("no placement that moves nothing of the start could have left more than {best}");
    lines.push(match &comparison.end {
        Some(end) => {
            let free = grouped(free_pageblocks(&comparison.machine, end));
            format!("Pageblocks free at its end: {free}; {most}.")
        }
        None => format!("Its state at the end is not known; {most} pageblocks free."),
    });
    lines
}

fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    Some(a?.saturating_add(b.unwrap_or(0)))
}

/// Returns what changes from each era to the next.
fn steps(comparison: &Comparison) -> Section {
    let replicates = &comparison.replicates;
    let title = if replicates.is_known() {
        format!("What each era would change (means of {} replays ± standard deviation)", replicates.replays)
    } else {
        "What each era would change (one replay: what is chance is not known)".to_owned()
    };
    let list = |era: usize| {
        let reported = reported(&replicates.changes(era), &[Kind::Outcome]);
        (step_name(era), reported.iter().map(Change::clause).collect::<Vec<_>>())
    };
    let lists = (0..Era::COMPARED.len() - 1).map(list).map(|(name, mut clauses)| {
        if clauses.is_empty() {
            clauses.push("nothing beyond chance".to_owned());
        }
        (name, clauses)
    });
    Section { title, lists: lists.collect(), ..Section::default() }
}

/// Returns the costs that differ between eras by more than chance; `None` if there are none.
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
        title: "What it costs".to_owned(),
        table: Some(table),
        ..Section::default()
    })
}

/// Returns sentences on how far the replays may be believed.
fn belief(comparison: &Comparison) -> Vec<String> {
    let mut lines = match &comparison.trust {
        Some(trust) => trust.lines(),
        None => vec![comparison.trust_line()],
    };
    lines.push(comparison.start.sentence());
    let lost: u64 = comparison.gaps.cpus.iter().map(|cpu| cpu.events).sum();
    if lost > 0 {
        let uncertain: u64 = comparison.gaps.cpus.iter().map(|cpu| cpu.uncertain_pages).sum();
        lines.push(format!(
            "lost events: {}; of up to {} pages it is not known whether they are free at the end",
            grouped(lost),
            grouped(uncertain)
        ));
    }
    lines
}
