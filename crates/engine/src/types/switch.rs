//! The systems and rules that users can turn on and off by name.

use super::switches::Switches;

/// A system or rule with a name on command lines and in reports. It stands for one or several fields of [`Switches`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Switch {
    /// [`Switches::hygiene`].
    Hygiene,
    /// [`Switches::remembered_mode`].
    RememberedMode,
    /// [`Switches::batched_decay`], [`Switches::batched_free`] and [`Switches::batched_drain`].
    BatchedDraining,
    /// [`Switches::counts`].
    Counts,
    /// [`Switches::claims_by_counts`].
    ClaimsByCounts,
    /// [`Switches::claims_used_first`].
    ClaimsUsedFirst,
    /// [`Switches::retypes_pageblocks`].
    RetypesPageblocks,
    /// [`Switches::unmixes_pageblocks`].
    UnmixesPageblocks,
    /// [`Switches::empties_pageblocks`].
    EmptiesPageblocks,
}

impl Switch {
    /// The four systems, in the order in which Linux got them.
    pub const ALL: [Self; 4] = [Self::Hygiene, Self::RememberedMode, Self::BatchedDraining, Self::Counts];

    /// The rules of placement that Freehold has and the newest Linux does not.
    pub const PLACEMENT: [Self; 5] = [
        Self::ClaimsByCounts,
        Self::ClaimsUsedFirst,
        Self::RetypesPageblocks,
        Self::UnmixesPageblocks,
        Self::EmptiesPageblocks,
    ];

    /// Returns every system and every rule.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().chain(Self::PLACEMENT)
    }

    /// Returns the names of the fields of [`Switches`] that this system or rule consists of.
    pub const fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Hygiene => &["hygiene"],
            Self::RememberedMode => &["remembered_mode"],
            Self::BatchedDraining => &["batched_decay", "batched_free", "batched_drain"],
            Self::Counts => &["counts"],
            Self::ClaimsByCounts => &["claims_by_counts"],
            Self::ClaimsUsedFirst => &["claims_used_first"],
            Self::RetypesPageblocks => &["retypes_pageblocks"],
            Self::UnmixesPageblocks => &["unmixes_pageblocks"],
            Self::EmptiesPageblocks => &["empties_pageblocks"],
        }
    }

    /// Returns the system or rule that must be on for this one to have an effect; `None` if it needs no other.
    pub const fn needs(self) -> Option<Self> {
        match self {
            Self::Hygiene | Self::RememberedMode | Self::BatchedDraining | Self::Counts => None,
            Self::ClaimsByCounts => Some(Self::Hygiene),
            Self::ClaimsUsedFirst
            | Self::RetypesPageblocks
            | Self::UnmixesPageblocks
            | Self::EmptiesPageblocks => Some(Self::ClaimsByCounts),
        }
    }

    /// Returns the name on command lines and in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hygiene => "hygiene",
            Self::RememberedMode => "remembered-mode",
            Self::BatchedDraining => "batched-draining",
            Self::Counts => "counts",
            Self::ClaimsByCounts => "claims-by-counts",
            Self::ClaimsUsedFirst => "claims-used-first",
            Self::RetypesPageblocks => "retypes-pageblocks",
            Self::UnmixesPageblocks => "unmixes-pageblocks",
            Self::EmptiesPageblocks => "empties-pageblocks",
        }
    }

    /// Returns the switch with this name, or `None` if no switch has it.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|switch| switch.name() == name)
    }

    /// Returns `switches` with this system turned on or off.
    pub const fn set(self, mut switches: Switches, on: bool) -> Switches {
        match self {
            Self::Hygiene => switches.hygiene = on,
            Self::RememberedMode => switches.remembered_mode = on,
            Self::BatchedDraining => {
                switches.batched_decay = on;
                switches.batched_free = on;
                switches.batched_drain = on;
            }
            Self::Counts => switches.counts = on,
            Self::ClaimsByCounts => switches.claims_by_counts = on,
            Self::ClaimsUsedFirst => switches.claims_used_first = on,
            Self::RetypesPageblocks => switches.retypes_pageblocks = on,
            Self::UnmixesPageblocks => switches.unmixes_pageblocks = on,
            Self::EmptiesPageblocks => switches.empties_pageblocks = on,
        }
        switches
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Era;

    #[test]
    fn set_changes_exactly_the_named_fields() {
        for switch in Switch::all() {
            for era in Era::ALL {
                let [on, off] = [true, false].map(|on| switch.set(era.switches(), on));
                assert!(on.differing(off).eq(switch.fields().iter().copied()), "{}", switch.name());
                assert_eq!(off.taking(switch.fields(), on), on);
                assert_eq!(on.taking(&["no such field"], off), on);
            }
        }
    }

    #[test]
    fn needs_matches_in_effect() {
        let all = Era::Freehold.switches();
        for switch in Switch::all() {
            let effects = all.in_effect().differing(switch.set(all, false).in_effect());
            let dependent = Switch::all().filter(|other| {
                let mut needs = *other;
                while let Some(needed) = needs.needs() {
                    needs = needed;
                    if needs == switch {
                        return true;
                    }
                }
                false
            });
            let of_dependent: usize = dependent.map(|other| other.fields().len()).sum();
            // Fields without a name of their own.
            let of_counts = match switch {
                Switch::Counts => 2,
                Switch::Hygiene => 1,
                _ => 0,
            };
            assert_eq!(
                effects.count(),
                switch.fields().len() + of_dependent + of_counts,
                "{}",
                switch.name()
            );
        }
    }
}
