//! The effect of one system or rule on a trace, with nothing else changed.

use freehold::{Order, Switch};
use serde::Serialize;

use super::change::{ALL_KINDS, Change, Spread, reported};
use super::replicates::Replicates;
use super::steps::EraStep;
use super::subjects::{Values, values};
use crate::replay::Measures;

/// The effect of one part of an era on a trace: added alone to the previous era, and removed from its own era.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Attributed {
    /// The part and its fields in this era.
    #[serde(flatten)]
    pub step: EraStep,
    /// The variant to which the part was added: the previous era, with the parts that the part needs.
    pub against: String,
    /// The measures of `against` with the part.
    pub alone: Measures,
    /// The measures of the part's era without the part; `None` if other parts of the era would lose their effect, too.
    pub taken_out: Option<Measures>,
}

/// Returns the name of the number that a system or rule is meant to change.
fn purpose(switch: Switch) -> &'static str {
    match switch {
        Switch::Hygiene => "free blocks on another type's list",
        Switch::RememberedMode => "claim attempts",
        Switch::BatchedDraining => "pages in the largest drain",
        Switch::Counts => "list nodes for a reader of pagetypeinfo",
        Switch::ClaimsByCounts => "claims",
        Switch::ClaimsUsedFirst => "steals",
        Switch::RetypesPageblocks | Switch::UnmixesPageblocks => "mixed pageblocks at the end",
        Switch::EmptiesPageblocks => "free pageblocks at the end",
    }
}

/// The replays with which attributed parts are compared.
pub(super) struct AttributionInput<'c> {
    pub(super) eras: &'c [Measures],
    pub(super) attributed: &'c [Attributed],
    pub(super) replicates: &'c Replicates,
    pub(super) order: Order,
}

impl AttributionInput<'_> {
    /// Returns the measures of a variant; `None` if it was not replayed.
    pub(super) fn measures(&self, variant: &str) -> Option<&Measures> {
        let alone = self.attributed.iter().map(|part| &part.alone);
        self.eras.iter().chain(alone).find(|measures| measures.variant == variant)
    }

    /// Returns mean and standard deviation over replicates, for the two eras of a step.
    fn scatter(&self, step: &EraStep) -> Vec<(Spread, Spread)> {
        let at = self.eras.iter().position(|era| era.variant == step.before.name()).unwrap_or(0);
        self.replicates.both(at)
    }

    /// Returns sentences on the changes by a part: alone, then within its era.
    pub(super) fn sentences(&self, part: &Attributed) -> Vec<String> {
        let step = &part.step;
        let (name, scatter) = (step.part.replace('-', " "), self.scatter(step));
        let values = |measures: &Measures| values(measures, self.order);
        let mut sentences = Vec::new();
        let mut describe = |place: String, before: &Values, after: &Values| {
            let changes = Change::of_single(before, after, &scatter);
            let purpose = step.switch.map(purpose);
            let meant = changes.iter().filter(|change| Some(change.what) == purpose);
            let also = reported(&changes, &ALL_KINDS).into_iter();
            let also = also.filter(|change| Some(change.what) != purpose);
            let all: Vec<_> = meant.copied().chain(also).collect();
            sentences.extend(all.iter().map(|change| format!("{name}, {place}: {}", change.clause())));
            if all.is_empty() {
                sentences.push(format!("{name}, {place}: no difference beyond noise on this trace"));
            }
        };
        if let Some(without) = self.measures(&part.against) {
            describe(format!("alone on {}", part.against), &values(without), &values(&part.alone));
        }
        let within = self.eras.iter().find(|era| era.variant == step.after.name());
        if let Some((without, with)) = part.taken_out.as_ref().zip(within) {
            let place = format!("in {} without it and with it", step.after.name());
            describe(place, &values(without), &values(with));
        }
        sentences
    }
}

#[cfg(test)]
mod tests {
    use super::super::subjects::SUBJECTS;
    use super::*;

    #[test]
    fn every_purpose_is_a_subject() {
        for switch in Switch::all() {
            assert!(SUBJECTS.iter().any(|subject| subject.name == purpose(switch)), "{}", switch.name());
        }
    }
}
