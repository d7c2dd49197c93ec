//! An era with changed systems and rules.

use std::fmt;

use freehold::{Era, RefusedChoices, Switch, Switches};

use super::rule::Rule;
use crate::error::LabError;

/// An era with changed systems and rules: the allocator of a replay.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variant {
    /// The base era.
    pub era: Era,
    /// Systems and rules that are turned on.
    pub with: Vec<Switch>,
    /// Systems and rules that are turned off, even if `with` contains them.
    pub without: Vec<Switch>,
    /// Fields with the values of another era. They take precedence over `with` and `without`.
    pub replaced: Vec<Replaced>,
    /// A placement rule that decides before the era; `None` for the era alone.
    pub rule: Option<Rule>,
}

/// Fields of [`Switches`] with the values of another era.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replaced {
    /// A common name for the fields.
    pub name: &'static str,
    /// The names of the fields.
    pub fields: Vec<&'static str>,
    /// The era of the values.
    pub from: Era,
}

impl Variant {
    /// Returns an unchanged era.
    pub fn new(era: Era) -> Self {
        Self { era, with: Vec::new(), without: Vec::new(), replaced: Vec::new(), rule: None }
    }

    /// Returns the variant with one more system or rule turned on.
    #[must_use]
    pub fn with(mut self, switch: Switch) -> Self {
        self.with.push(switch);
        self
    }

    /// Returns the variant with one more system or rule turned off.
    #[must_use]
    pub fn without(mut self, switch: Switch) -> Self {
        self.without.push(switch);
        self
    }

    /// Returns the variant with the values of `from` in some fields; `name` is a common name for the fields.
    #[must_use]
    pub fn replacing(mut self, name: &'static str, fields: &[&'static str], from: Era) -> Self {
        self.replaced.push(Replaced { name, fields: fields.to_vec(), from });
        self
    }

    /// Returns the variant with a placement rule that decides before the era.
    #[must_use]
    pub fn with_policy(mut self, rule: Rule) -> Self {
        self.rule = Some(rule);
        self
    }

    /// Returns an error if the variant has a placement rule that its era never calls.
    pub(super) fn refuse_uncalled_rule(&self) -> Result<(), LabError> {
        let uncalled = self.rule.as_ref().filter(|_| !self.switches().hygiene);
        uncalled.map_or(Ok(()), |rule| {
            Err(LabError::RuleUnasked { rule: rule.name().to_owned(), variant: self.to_string() })
        })
    }

    /// Returns an error if the placement rule chose a block that it was not offered.
    pub(super) fn refuse(&self, refused: RefusedChoices) -> Result<(), LabError> {
        match (&self.rule, refused) {
            (Some(rule), RefusedChoices { count: 1.., last }) => {
                let (rule, variant) = (rule.name().to_owned(), self.to_string());
                Err(LabError::Rule { rule, variant, last: last.0 })
            }
            _ => Ok(()),
        }
    }

    /// Returns the switches of the engine for this variant.
    pub fn switches(&self) -> Switches {
        let on = self.with.iter().fold(self.era.switches(), |all, switch| switch.set(all, true));
        let set = self.without.iter().fold(on, |all, switch| switch.set(all, false));
        self.replaced.iter().fold(set, |all, other| all.taking(&other.fields, other.from.switches()))
    }
}

impl From<Era> for Variant {
    fn from(era: Era) -> Self {
        Self::new(era)
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.era.name())?;
        for (word, switches) in [("with", &self.with), ("without", &self.without)] {
            for switch in switches {
                write!(f, " {word} {}", switch.name())?;
            }
        }
        self.replaced
            .iter()
            .try_for_each(|other| write!(f, " with {}'s {}", other.from.name(), other.name))?;
        self.rule.iter().try_for_each(|rule| write!(f, " with {}", rule.name()))
    }
}

/// Returns the era that is nearest to a kernel release (`uname -r`); `None` if the release cannot be read.
pub fn nearest_era(kernel_release: &str) -> Option<Era> {
    let mut numbers = kernel_release.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    let (major, minor) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    Some(match (major, minor) {
        version if version < (6, 10) => Era::Linux6_1,
        // From 6.16 on, per-CPU lists keep pages that are freed in larger blocks. This decides the place of most free
        // pages. Usually it is the only change up to 7.3 that a trace shows.
        version if version < (6, 16) => Era::Linux6_12,
        _ => Era::Linux7_3,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_change_the_era() {
        let variant = Variant::new(Era::Freehold).without(Switch::Counts);
        assert!(!variant.switches().counts && variant.switches().hygiene);
        assert_eq!(variant.to_string(), "freehold without counts");
        let variant = Variant::new(Era::Linux6_1).with(Switch::RememberedMode);
        assert!(variant.switches().remembered_mode);
        let variant =
            Variant::new(Era::Linux7_3).replacing("batched-draining", &["batched_free"], Era::Linux6_12);
        assert_eq!(variant.to_string(), "linux-7.3 with linux-6.12's batched-draining");
        assert!(variant.switches().differing(Era::Linux7_3.switches()).eq(["batched_free"]));
    }

    #[test]
    fn releases_map_to_the_nearest_era() {
        let era = |release| nearest_era(release).map(Era::name);
        assert_eq!(era("5.15.0-91-generic"), Some("linux-6.1"));
        assert_eq!(era("6.9.12"), Some("linux-6.1"));
        assert_eq!(era("6.15.9"), Some("linux-6.12"));
        assert_eq!(era("6.18.3+deb13"), Some("linux-7.3"));
        assert_eq!(era("7.3.0"), Some("linux-7.3"));
        assert_eq!(era(""), None);
    }
}
