//! An era, with or without some of its systems and rules.

use std::fmt;

use freehold::{Era, RefusedChoices, Switch, Switches};

use super::rule::Rule;
use crate::error::LabError;

/// An era, with or without some of its systems and rules.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variant {
    /// The era to start from.
    pub era: Era,
    /// The systems and rules that are turned on.
    pub with: Vec<Switch>,
    /// The systems and rules that are turned off, also if `with` has them.
    pub without: Vec<Switch>,
    /// Fields that are as another era has them, whatever `with` and `without` say.
    pub replaced: Vec<Replaced>,
    /// The rule that is asked before the era; `None` for the era alone.
    pub rule: Option<Rule>,
}

/// Fields of [`Switches`] that a variant has from another era.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replaced {
    /// What the fields are together.
    pub name: &'static str,
    /// The names of the fields.
    pub fields: Vec<&'static str>,
    /// The era that they are taken from.
    pub from: Era,
}

impl Variant {
    /// Returns an era as it is.
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

    /// Returns the variant with some fields as `from` has them; `name` says what they are together.
    #[must_use]
    pub fn replacing(mut self, name: &'static str, fields: &[&'static str], from: Era) -> Self {
        self.replaced.push(Replaced { name, fields: fields.to_vec(), from });
        self
    }

    /// Returns the variant with a rule that is asked before the era.
    #[must_use]
    pub fn with_policy(mut self, rule: Rule) -> Self {
        self.rule = Some(rule);
        self
    }

    /// Returns an error if it has a rule that no request and no pageblock would ever be asked about.
    pub(super) fn refuse_unasked(&self) -> Result<(), LabError> {
        let unasked = self.rule.as_ref().filter(|_| !self.switches().hygiene);
        unasked.map_or(Ok(()), |rule| {
            Err(LabError::RuleUnasked { rule: rule.name().to_owned(), variant: self.to_string() })
        })
    }

    /// Returns an error if its rule chose what it was not offered.
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
        // From 6.16 on, a CPU's lists keep what is freed in larger blocks. That decides where most free pages
        // wait, and usually it is the only change up to 7.3 that shows in a trace.
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
    fn a_release_has_a_nearest_era() {
        let era = |release| nearest_era(release).map(Era::name);
        assert_eq!(era("5.15.0-91-generic"), Some("linux-6.1"));
        assert_eq!(era("6.9.12"), Some("linux-6.1"));
        assert_eq!(era("6.15.9"), Some("linux-6.12"));
        assert_eq!(era("6.18.3+deb13"), Some("linux-7.3"));
        assert_eq!(era("7.3.0"), Some("linux-7.3"));
        assert_eq!(era(""), None);
    }
}
