//! The changes of each era, divided into parts.

use freehold::{Era, Switch, Switches};
use serde::{Serialize, Serializer};

use crate::replay::Variant;

/// The name of the part with all fields that belong to no system and no rule.
const OTHERS: &str = "other-changes";

/// A part of the changes from one era to the next: a system, a rule, or all other changes together.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct EraStep {
    /// The name of the part.
    pub part: &'static str,
    /// The previous era.
    #[serde(serialize_with = "name")]
    pub before: Era,
    /// The era that introduced the part.
    #[serde(serialize_with = "name")]
    pub after: Era,
    /// The fields of [`Switches`] that belong to the part in this step.
    pub fields: Vec<&'static str>,
    /// Another part of the same era without which this part has no effect.
    #[serde(skip)]
    pub(super) needs: Option<Switch>,
    /// The system or rule; `None` for all other changes.
    #[serde(skip)]
    pub(super) switch: Option<Switch>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde requires this signature")]
fn name<S: Serializer>(era: &Era, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(era.name())
}

/// Two variants that differ by one part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Pair {
    pub(super) without: Variant,
    pub(super) with: Variant,
}

impl Pair {
    /// Returns the effective fields by which the variants differ.
    fn difference(&self) -> impl Iterator<Item = &'static str> {
        self.without.switches().in_effect().differing(self.with.switches().in_effect())
    }
}

/// Returns the names of the fields of `of` that differ between two eras.
fn differing(of: &[&'static str], before: Switches, after: Switches) -> Vec<&'static str> {
    before.differing(after).filter(|field| of.contains(field)).collect()
}

impl EraStep {
    /// Returns every part of every era, the oldest era first.
    pub(super) fn all() -> Vec<Self> {
        let mut steps = Vec::new();
        for eras in Era::COMPARED.windows(2) {
            let (before, after) = (eras[0], eras[1]);
            let differing = |of: &[&'static str]| differing(of, before.switches(), after.switches());
            let mut left: Vec<_> = before.switches().differing(after.switches()).collect();
            for switch in Switch::all() {
                let fields = differing(switch.fields());
                left.retain(|field| !fields.contains(field));
                let needs = switch.needs().filter(|needed| !differing(needed.fields()).is_empty());
                let step = Self { part: switch.name(), before, after, fields, needs, switch: Some(switch) };
                steps.extend((!step.fields.is_empty()).then_some(step));
            }
            let rest = Self { part: OTHERS, before, after, fields: left, needs: None, switch: None };
            steps.extend((!rest.fields.is_empty()).then_some(rest));
        }
        steps
    }

    /// Returns the previous era without and with the part. If the part needs another part of its era, both variants
    /// have that other part.
    pub(super) fn alone(&self) -> Pair {
        let before = Variant::new(self.before);
        let without = match self.needs {
            Some(needed) => before.replacing(needed.name(), needed.fields(), self.after),
            None => before,
        };
        Pair { with: without.clone().replacing(self.part, &self.fields, self.after), without }
    }

    /// Returns the part's era without and with the part; `None` if other parts of the era would lose their effect, too.
    pub(super) fn taken_out(&self) -> Option<Pair> {
        let with = Variant::new(self.after);
        let pair = Pair { without: with.clone().replacing(self.part, &self.fields, self.before), with };
        pair.difference().eq(self.fields.iter().copied()).then_some(pair)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_variant_differs_from_its_neighbour_by_exactly_the_named_fields() {
        for step in EraStep::all() {
            let fields = || step.fields.iter().copied();
            assert!(step.alone().difference().eq(fields()), "{step:?}");
            match step.taken_out() {
                Some(pair) => assert!(pair.difference().eq(fields()), "{step:?}"),
                None => assert_eq!(step.part, "claims-by-counts", "only this part has dependent parts"),
            }
        }
    }

    #[test]
    fn comparisons_of_more_than_one_part_are_detected() {
        // The previous comparison: freehold without hygiene has also lost six rules.
        let with = Variant::new(Era::Freehold);
        let pair = Pair { without: with.clone().without(Switch::Hygiene), with };
        assert_eq!(pair.difference().count(), 7);
        // All three fields of batched draining at once. Linux 6.12 introduced one of them.
        let with = Variant::new(Era::Linux6_1).with(Switch::BatchedDraining);
        let pair = Pair { without: Variant::new(Era::Linux6_1), with };
        assert!(!pair.difference().eq(["batched_decay"]));
    }

    #[test]
    fn every_field_that_an_era_changes_belongs_to_exactly_one_step() {
        for eras in Era::COMPARED.windows(2) {
            let changed: Vec<_> = eras[0].switches().differing(eras[1].switches()).collect();
            let steps: Vec<_> = EraStep::all().into_iter().filter(|step| step.after == eras[1]).collect();
            let reported: Vec<_> = steps.iter().flat_map(|step| &step.fields).collect();
            assert_eq!(reported.len(), changed.len());
            assert!(changed.iter().all(|field| reported.contains(&field)), "{changed:?}");
        }
        let homes = |part| {
            EraStep::all().iter().filter(|step| step.part == part).map(|s| s.after).collect::<Vec<_>>()
        };
        assert_eq!(homes("hygiene"), [Era::Linux6_12]);
        assert_eq!(homes("batched-draining"), [Era::Linux6_12, Era::Linux7_3, Era::Freehold]);
        assert_eq!(homes("counts"), [Era::Linux7_3Counts]);
        assert_eq!(homes("empties-pageblocks"), [Era::Freehold]);
    }
}
