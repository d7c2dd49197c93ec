//! The reported differences as sentences.

use freehold::Era;
use freehold_measure::{Cell, grouped};

use super::attributed::AttributionInput;
use super::change::{ALL_KINDS, Change, reported};
use super::distance::EndDistance;
use crate::recorded::Gaps;
use crate::replay::Followed;

/// Returns the name of the step from an era to the next era.
pub(super) fn step_name(era: usize) -> String {
    format!("{} → {}", Era::COMPARED[era].name(), Era::COMPARED[era + 1].name())
}

/// Returns one sentence for each reported difference: from era to era, by each part of an era alone, and between the
/// nearest era and the machine at the end.
pub(super) fn sentences(
    attribution_input: &AttributionInput<'_>,
    distance: Option<&EndDistance>,
) -> Vec<String> {
    let mut sentences = Vec::new();
    for era in 0..attribution_input.eras.len().saturating_sub(1) {
        let reported = reported(&attribution_input.replicates.changes(era), &ALL_KINDS);
        let step = step_name(era);
        if reported.is_empty() {
            sentences.push(format!("{step}: no difference beyond noise on this trace"));
        }
        sentences.extend(reported.iter().map(|change: &Change| format!("{step}: {}", change.clause())));
    }
    sentences.extend(attribution_input.attributed.iter().flat_map(|part| attribution_input.sentences(part)));
    if let Some(distance) = distance {
        sentences.push(format!(
            "{} ends with free lists that differ from the machine's pagetypeinfo by {} blocks ({} pages, {} % of the \
             free pages)",
            distance.variant,
            grouped(distance.blocks()),
            grouped(distance.pages()),
            Cell::Real(distance.percent()).text(),
        ));
    }
    sentences
}

impl Gaps {
    /// Returns one sentence for each CPU that lost events, and one on the effects of the loss on a replay.
    pub fn sentences(&self, followed: &Followed) -> Vec<String> {
        let seconds = |ns: u64| ns.saturating_sub(self.first_ns) as f64 / 1e9;
        let mut sentences: Vec<_> = self
            .cpus
            .iter()
            .map(|cpu| {
                let about = if cpu.is_exact { "" } else { "at least " };
                let places = if cpu.places == 1 { "place" } else { "places" };
                format!(
                    "CPU {} lost {about}{} events in {} {places} between {:.3} s and {:.3} s: about {} pages, and at \
                     most {}, are not known to be free or in use at the end",
                    cpu.cpu,
                    grouped(cpu.events),
                    grouped(cpu.places),
                    seconds(cpu.begin_ns),
                    seconds(cpu.end_ns),
                    grouped(cpu.likely_pages),
                    grouped(cpu.uncertain_pages),
                )
            })
            .collect();
        if !sentences.is_empty() {
            sentences.push(format!(
                "since the first gap {} frees of blocks without an allocation and {} double allocations: their other \
                 events were lost, and the replay added them",
                grouped(followed.unknown_frees_since_loss),
                grouped(followed.double_allocs_since_loss),
            ));
        }
        sentences
    }
}
